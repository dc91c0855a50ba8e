"""The paper's figures and tables, one command each: `python -m experiments NAME`.

`frame` says what an experiment is, `running` carries one out and goes on where it was stopped,
`plots` and `report` show what came out. The paper's own numbers are in `published`.
"""
