"""What people do with topics: look at them, and at documents through them.

The functions and modules are loaded on first use, so that the command line starts at once:

>>> import trustream
>>> trustream.topics.summary.summarise.__name__
'summarise'
>>> "topic_info" in dir(trustream.topics)
True
"""

from __future__ import annotations

from trustream._lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trustream.topic_names import TopicNames, UnknownTopicError
    from trustream.topics import inference, summary
    from trustream.topics.choosing import choose_n_components
    from trustream.topics.document_view import view_documents
    from trustream.topics.documents import DocumentBatch, gather
    from trustream.topics.editing import (
        change_after,
        delete_topics,
        deleting,
        merge_topics,
        merging,
        set_labels,
    )
    from trustream.topics.exchange.arrow_tables import documents_to_arrow, to_arrow, write_parquet
    from trustream.topics.exchange.gensim_models import from_gensim, to_gensim
    from trustream.topics.exchange.pyldavis_data import to_pyldavis
    from trustream.topics.exchange.scikit_learn_models import from_sklearn, to_sklearn
    from trustream.topics.exchange.tomotopy_models import from_tomotopy
    from trustream.topics.exploring import explore
    from trustream.topics.over_time import TimeCounts, topics_over_time
    from trustream.topics.pictures import (
        plot_choice,
        plot_document,
        plot_hierarchy,
        plot_map,
        plot_over_time,
        plot_top_words,
    )
    from trustream.topics.relations import (
        CorrelationCounts,
        topic_correlation,
        topic_hierarchy,
        topic_map,
    )
    from trustream.topics.report import report_data, write_report
    from trustream.topics.representatives import RunningTop, representative_documents
    from trustream.topics.splitting import split_topic
    from trustream.topics.stored_documents import stored_batches
    from trustream.topics.table import TableCounts, topic_info
    from trustream.topics.time_bins import GrowingBins
    from trustream.topics.topic_set import TopicSet, as_topics
    from trustream.topics.word_sources import register_tokeniser

__all__ = [
    "CorrelationCounts",
    "DocumentBatch",
    "GrowingBins",
    "RunningTop",
    "TableCounts",
    "TimeCounts",
    "TopicNames",
    "TopicSet",
    "UnknownTopicError",
    "as_topics",
    "change_after",
    "choose_n_components",
    "delete_topics",
    "deleting",
    "documents_to_arrow",
    "explore",
    "from_gensim",
    "from_sklearn",
    "from_tomotopy",
    "gather",
    "inference",
    "merge_topics",
    "merging",
    "plot_choice",
    "plot_document",
    "plot_hierarchy",
    "plot_map",
    "plot_over_time",
    "plot_top_words",
    "register_tokeniser",
    "report_data",
    "representative_documents",
    "set_labels",
    "split_topic",
    "stored_batches",
    "summary",
    "to_arrow",
    "to_gensim",
    "to_pyldavis",
    "to_sklearn",
    "topic_correlation",
    "topic_hierarchy",
    "topic_info",
    "topic_map",
    "topics_over_time",
    "view_documents",
    "write_parquet",
    "write_report",
]

# Modules, and the public names that are found there.
_HOME = {
    "choosing": ("choose_n_components",),
    "document_view": ("view_documents",),
    "documents": ("DocumentBatch", "gather"),
    "editing": (
        "change_after", "delete_topics", "deleting", "merge_topics", "merging", "set_labels",
    ),
    "exchange.arrow_tables": ("documents_to_arrow", "to_arrow", "write_parquet"),
    "exchange.gensim_models": ("from_gensim", "to_gensim"),
    "exchange.pyldavis_data": ("to_pyldavis",),
    "exchange.scikit_learn_models": ("from_sklearn", "to_sklearn"),
    "exchange.tomotopy_models": ("from_tomotopy",),
    "exploring": ("explore",),
    "over_time": ("TimeCounts", "topics_over_time"),
    "pictures": (
        "plot_choice", "plot_document", "plot_hierarchy", "plot_map", "plot_over_time",
        "plot_top_words",
    ),
    "relations": ("CorrelationCounts", "topic_correlation", "topic_hierarchy", "topic_map"),
    "report": ("report_data", "write_report"),
    "representatives": ("RunningTop", "representative_documents"),
    "splitting": ("split_topic",),
    "stored_documents": ("stored_batches",),
    "table": ("TableCounts", "topic_info"),
    "time_bins": ("GrowingBins",),
    "topic_search": ("UnknownTopicError",),
    "topic_set": ("TopicNames", "TopicSet", "as_topics"),
    "word_sources": ("register_tokeniser",),
}  # fmt: skip
# Modules of functions that commands call.
_MODULES = ("inference", "summary")

__getattr__, __dir__ = lazy_names(
    __name__,
    {name: f"{__name__}.{module}" for module, names in _HOME.items() for name in names},
    _MODULES,
)
