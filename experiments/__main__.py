"""`python -m experiments NAME`: repeat one experiment of the paper."""

from experiments.command import main

if __name__ == "__main__":
    main(prog_name="python -m experiments")
