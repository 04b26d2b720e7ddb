"""How far raters agreed before anyone saw both: the figures, what each stands on, and what lies behind it."""

from annotator.gui.pages.agreement.page import AgreementPage as AgreementPage
