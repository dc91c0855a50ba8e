"""Write a report about topics: one page that opens in any browser, without a network.

`report_data` computes what is shown, as plain JSON values, and `write_report` puts it on a page
together with the components in `trustream/web`.
"""

from __future__ import annotations

from trustream.topics.report.data import report_data
from trustream.topics.report.page import write_report

__all__ = ["report_data", "write_report"]
