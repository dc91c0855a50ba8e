"""Types of NumPy arrays, for annotations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Float64 = NDArray[np.float64]
Index = NDArray[np.int64]
