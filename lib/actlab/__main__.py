"""`python -m actlab`: the command line."""

from actlab.cli import main

main()
