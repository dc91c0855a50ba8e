"""The document store: a database of documents that grows, and of what is learned from it.

    store = open_store("topics.db")                  # SQLite, one file
    store = open_store("postgresql://host/name")     # PostgreSQL

`protocol` says what a store does; each backend is plain SQL.
"""
