"""The Agreement page: figures of frozen agreement, their basis, and the values behind them."""

from annotator.gui.pages.agreement.page import AgreementPage as AgreementPage
