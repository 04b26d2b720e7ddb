; Installs @TITLE@ for this person: no administrator, nothing outside the person's own folders and registry.
Unicode true
RequestExecutionLevel user
SetCompressor /SOLID lzma
!include MUI2.nsh
!include LogicLib.nsh

!define KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\@TITLE@"
Name "@TITLE@"
OutFile "@OUT@"
InstallDir "$LOCALAPPDATA\Programs\@TITLE@"
InstallDirRegKey HKCU "${KEY}" "InstallLocation"
BrandingText "@TITLE@ @VERSION@"
VIProductVersion "@NUMBERS@"
VIAddVersionKey "CompanyName" "@MAKER@"
VIAddVersionKey "FileDescription" "Installs @TITLE@ for one person"
VIAddVersionKey "FileVersion" "@VERSION@"
VIAddVersionKey "LegalCopyright" "@LICENCE@"
VIAddVersionKey "ProductName" "@TITLE@"
VIAddVersionKey "ProductVersion" "@VERSION@"
!define MUI_ICON "@ICON@"
!define MUI_UNICON "@ICON@"
!define MUI_FINISHPAGE_RUN "$INSTDIR\goldsmith.exe"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

!macro CloseFirst
  ${If} ${FileExists} "$INSTDIR\goldsmith.exe"
    ClearErrors
    FileOpen $0 "$INSTDIR\goldsmith.exe" a
    ${If} ${Errors}
      MessageBox MB_OK|MB_ICONEXCLAMATION "@TITLE@ is open. Close it and start again; nothing was changed." /SD IDOK
      SetErrorLevel 2
      Quit
    ${EndIf}
    FileClose $0
  ${EndIf}
!macroend

Section
  !insertmacro CloseFirst
  ; An older one goes first, by its own list: what it brought and this one does not bring would stay otherwise.
  ReadRegStr $1 HKCU "${KEY}" "InstallLocation"
  ${If} $1 != ""
  ${AndIf} ${FileExists} "$1\uninstall.exe"
    ExecWait '"$1\uninstall.exe" /S _?=$1'
    Delete "$1\uninstall.exe"
    RMDir "$1"
  ${EndIf}
@FILES@
  SetOutPath "$INSTDIR"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "$SMPROGRAMS\@TITLE@.lnk" "$INSTDIR\goldsmith.exe"
  WriteRegStr HKCU "${KEY}" "DisplayName" "@TITLE@"
  WriteRegStr HKCU "${KEY}" "DisplayVersion" "@VERSION@"
  WriteRegStr HKCU "${KEY}" "DisplayIcon" "$INSTDIR\goldsmith.exe"
  WriteRegStr HKCU "${KEY}" "Publisher" "@MAKER@"
  WriteRegStr HKCU "${KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${KEY}" "EstimatedSize" @SIZE@
  WriteRegDWORD HKCU "${KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${KEY}" "NoRepair" 1
@TYPES@
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd

Section Uninstall
  !insertmacro CloseFirst
@REMOVED@
  Delete "$INSTDIR\uninstall.exe"
  SetOutPath "$TEMP"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\@TITLE@.lnk"
@NO_TYPES@
  DeleteRegKey HKCU "${KEY}"
  System::Call 'shell32::SHChangeNotify(i 0x08000000, i 0, p 0, p 0)'
SectionEnd
