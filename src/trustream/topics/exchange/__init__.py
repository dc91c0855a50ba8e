"""Take topics to other libraries, and bring topics from them, one module for each library.

The functions are names of `trustream.topics`. The libraries are imported when a function is called:
nothing here is needed by the base install.
"""
