"""The learning rate's clock: what was looked at since the store was half as large.

Topics that are found in a few hundred documents are not the ones that suit ten thousand, and at a
rate that only falls they would stay. So while documents are few for the topics, fewer than their
population, the rate begins anew each time that the store has doubled,

    rho_t = (tau + P_t / B)^-kappa min(1, S B / P_t)^(1 - kappa)

with P_t the documents looked at in this phase, repetitions counted. In the first S steps topics are
found, for which the rate must be large; from then on it falls like 1/t, so that lambda settles, but
never remembers more than a share of what was looked at in the phase. When something arrives after a
long quiet, P_t is set back to at most as many looks at each document that was there before as `fit`
makes, so that it is learned from at once.

Without a population (`inference.population`) the clock is that of the paper, documents added and
not steps taken. Its schedule (section 3.1) is

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

import math
from dataclasses import dataclass, replace

from trustream.learning import continuing
from trustream.store.records import Totals

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
        phase_documents: documents that were there when the phase began.
        phase_looks: P_t.
    """

    found: int
    added_before: int
    added: int
    looked_at: int = 0
    since_arrival: int = 0
    quiet: float = 0.0
    phase_documents: int = 0
    phase_looks: int = 0

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

    def passed(
        self, totals: Totals, n_documents: int, passes: int, begins_anew: bool = True
    ) -> Clock:
        """After a step on a batch of n_documents, drawn when the store had these totals.

        Args:
            passes: looks at each document that was there before, to which those of a phase are set
                back when something arrives.
            begins_anew: whether a phase begins if the store has doubled since the last one began.
        """
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
        documents, looks = self.phase_documents, self.phase_looks
        if new > 0:
            looks = min(looks, passes * max(0, totals.training - new))
        if totals.training >= 2 * documents and (begins_anew or not documents):
            documents, looks = totals.training, 0
        return replace(
            self,
            added=totals.added,
            looked_at=looked_at,
            since_arrival=since,
            quiet=quiet,
            phase_documents=documents,
            phase_looks=looks + n_documents,
        )

    def rate(self, tau: float, kappa: float, batch_size: int) -> float:
        """rho = (tau + (A_t + Q_t) / B)^-kappa, below 1.

        >>> Clock(found=0, added_before=0, added=300).rate(tau=1.0, kappa=0.5, batch_size=100)
        0.5
        """
        return min(LARGEST_RATE, (tau + (self.arrived + self.quiet) / batch_size) ** -kappa)

    def phase_rate(
        self, tau: float, kappa: float, batch_size: int, settling: float = math.inf
    ) -> float:
        """rho = (tau + P_t / B)^-kappa min(1, S B / P_t)^(1 - kappa), below 1.

        Args:
            settling: S, steps of a phase after which the rate falls like 1/t.

        >>> clock = Clock(found=0, added_before=0, added=300, phase_looks=300)
        >>> clock.phase_rate(tau=1.0, kappa=0.5, batch_size=100)
        0.5
        >>> round(clock.phase_rate(tau=100.0, kappa=0.5, batch_size=1, settling=75), 4)
        0.025
        """
        n_steps = self.phase_looks / batch_size
        rate = (tau + n_steps) ** -kappa
        if n_steps > settling and kappa < 1:
            rate *= (settling / n_steps) ** (1 - kappa)
        return min(LARGEST_RATE, rate)

    def window(self, totals: Totals) -> float:
        """Documents that a mean of lambda is taken over: a pass, at the beginning less."""
        return continuing.mean_window(self.looked_at, totals.training)

    def looks(self, totals: Totals) -> float:
        """How often each training document was looked at, on average."""
        return self.looked_at / max(totals.training, 1)

    def is_idle(self, totals: Totals, passes: int) -> bool:
        """Whether nothing has arrived in so many passes over the store, the first one included."""
        nothing_new = totals.added == self.added
        after = (passes - 1) * totals.training
        return nothing_new and self.since_arrival >= after and self.looked_at >= self.found
