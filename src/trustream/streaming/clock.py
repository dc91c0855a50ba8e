"""The learning rate's clock: documents added, not steps taken.

The paper's schedule (section 3.1) is

    rho_t = (tau + A_t / B)^-kappa

with A_t the documents added to the store since learning began. Two things are added to it:

- A trainer that starts on a full store has N_0 documents which were never "added". Its first pass
  over them counts as their arrival.
- On a quiet store the paper's rate would stay where it is for ever, and lambda would keep the noise
  of its last batches. So after a whole pass without arrivals, documents that are looked at again
  count as added too (Q_t), and the rate falls. When documents arrive after that, Q_t is forgotten
  in proportion to how much of the store is new.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from trustream.store.protocol import Totals

# The rate never reaches 1, which would forget all that was learned.
LARGEST_RATE = 0.999


@dataclass(frozen=True, slots=True)
class Clock:
    """What the rate depends on.

    Attributes:
        found: N_0, training documents that were there when learning began.
        added_before: `Totals.added` when learning began.
        added: `Totals.added` at the last step.
        looked_at: documents that steps have looked at, repetitions counted.
        since_arrival: those since the last arrival.
        quiet: Q_t.
    """

    found: int
    added_before: int
    added: int
    looked_at: int = 0
    since_arrival: int = 0
    quiet: float = 0.0

    @classmethod
    def start(cls, totals: Totals) -> Clock:
        """At the beginning of learning.

        >>> Clock.start(Totals(10, 8, 2, 100, 5, 8, 3, 1)).arrived
        0
        """
        return cls(totals.training, totals.added, totals.added)

    @property
    def arrived(self) -> int:
        """A_t: the first pass over what was there, and all that was added since."""
        return min(self.looked_at, self.found) + self.added - self.added_before

    def passed(self, totals: Totals, n_documents: int) -> Clock:
        """After a step on a batch of n_documents, drawn when the store had these totals."""
        new = totals.added - self.added
        quiet, since = self.quiet, self.since_arrival
        if new > 0:
            quiet *= max(0.0, 1.0 - new / max(totals.training, 1))
            since = 0
        looked_at = self.looked_at + n_documents
        # The first pass is an arrival in itself.
        if looked_at > self.found:
            since += n_documents
        if since > totals.training:
            quiet += min(n_documents, since - totals.training)
        return replace(
            self, added=totals.added, looked_at=looked_at, since_arrival=since, quiet=quiet
        )

    def rate(self, tau: float, kappa: float, batch_size: int) -> float:
        """rho = (tau + (A_t + Q_t) / B)^-kappa, below 1.

        >>> Clock(found=0, added_before=0, added=300).rate(tau=1.0, kappa=0.5, batch_size=100)
        0.5
        """
        return min(LARGEST_RATE, (tau + (self.arrived + self.quiet) / batch_size) ** -kappa)

    def looks(self, totals: Totals) -> float:
        """How often each training document was looked at, on average."""
        return self.looked_at / max(totals.training, 1)

    def is_idle(self, totals: Totals) -> bool:
        """Whether a whole pass over the store has been made since anything arrived."""
        nothing_new = totals.added == self.added
        return (
            nothing_new and self.since_arrival >= totals.training and (self.looked_at >= self.found)
        )
