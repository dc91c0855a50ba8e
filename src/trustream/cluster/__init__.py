"""Train on more than one machine: the same learner, with Ray to carry its work to workers.

``trustream train STORE --cluster ADDRESS --workers N`` and `fit` are what users call. They need
``pip install 'trustream[cluster]'``; nothing else of trustream knows of Ray.

What each module offers to the others:

=================== ===============================================================================
`addresses`         `parse_address`: "local", "auto" or "host:port" as an `Address`
`connection`        `connected(address, ...)`: a context in which Ray runs, started here or joined
`errors`            `ClusterError`, and `StaleRowsError` for rows that have changed meanwhile
`sources`           `Source`, where documents are: small, travels to workers, `open()` there gives
                    an `OpenSource`, whose `read(numbers)` returns `store.records.Documents` and
                    the state of the numbering. `StoreSource(url)`; numbers are slots of training
                    documents
`parquet_source`    `ParquetSource.of(pattern, ...)`; numbers are rows of all files, in order
`parquet_counts`    counts in Parquet files: `write_counts`, and checks of what is read
`worker`            `Worker`, what an actor holds: `worker.source`, open; `worker.kept`, a bounded
                    table of what calls want to find again; `worker.n_threads`
`seats`             `Seats`, where workers are: started, watched, replaced, added
`calls`             `Call`, what a worker is asked, and `Pending`, calls that are under way
`pool`              `Pool(source, n_workers, ...)`: `run(calls)` gives the results of calls in
                    order, whatever workers die or dawdle; `start` and `finish` do so in two steps;
                    `pool_on(cluster, ...)` starts or joins the cluster too
=================== ===============================================================================

A call is ``Call(function, *arguments)`` with a function at the top level of a module, called on
some worker as ``function(worker, *arguments)``. It must be a pure function of its arguments and of
the data: a call may be made twice, on two workers, and one of its results is taken. Arguments that
are the same for several calls and large are put once (`Pool.put`).

A batch has parts (`trustream.inference.divided`), which say what the results are, whoever computes
them: `part_calls` has what a worker does with a part, `rows` are documents that workers have read,
`executor` is the `Executor` that a `Learner` takes, `engine` lets a trainer draw and score on
workers, `training` makes one for a store, and `fitting` has `fit`. `progress` measures,
`driver_memory` says what the driver needs.

Beside training, workers go once through a corpus: `corpora` opens Parquet files (`parquet_corpus`)
or a store (`store_corpus`), each divided into parts (`corpus_parts`), `over_parts` has workers
compute something for each part, in order, and `transforming`, `evaluating` and `exploring` say
what. `ingesting` adds files to a store, and `tokenising` counts words of texts with Ray Data.
"""

from __future__ import annotations

from trustream._lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trustream.cluster.connection import connected
    from trustream.cluster.errors import ClusterError
    from trustream.cluster.evaluating import evaluate
    from trustream.cluster.exploring import explore
    from trustream.cluster.fitting import fit
    from trustream.cluster.ingesting import IngestedFile, ingest
    from trustream.cluster.parquet_counts import write_counts
    from trustream.cluster.tokenising import Tokenised, tokenise
    from trustream.cluster.training import cluster_engine
    from trustream.cluster.transforming import Transformed, transform, transform_to

__all__ = [
    "ClusterError",
    "IngestedFile",
    "Tokenised",
    "Transformed",
    "cluster_engine",
    "connected",
    "evaluate",
    "explore",
    "fit",
    "ingest",
    "tokenise",
    "transform",
    "transform_to",
    "write_counts",
]

_HOME = {
    "ClusterError": "trustream.cluster.errors",
    "IngestedFile": "trustream.cluster.ingesting",
    "Tokenised": "trustream.cluster.tokenising",
    "Transformed": "trustream.cluster.transforming",
    "cluster_engine": "trustream.cluster.training",
    "connected": "trustream.cluster.connection",
    "evaluate": "trustream.cluster.evaluating",
    "explore": "trustream.cluster.exploring",
    "fit": "trustream.cluster.fitting",
    "ingest": "trustream.cluster.ingesting",
    "tokenise": "trustream.cluster.tokenising",
    "transform": "trustream.cluster.transforming",
    "transform_to": "trustream.cluster.transforming",
    "write_counts": "trustream.cluster.parquet_counts",
}

__getattr__, __dir__ = lazy_names(__name__, _HOME)
