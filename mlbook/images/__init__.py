"""Images as rows: features of every pixel, and of whole images.

Of every pixel (`pixels.py`; Law 2016, Section 5.2): what surrounds it, a SIFT descriptor of 128
numbers, and its colour in seven: Lab, RGB and intensity. With masks of the same pixels, images
become the rows and labels from which a metric is learned. A mask holds the class of each pixel and
−1 where it is not known.

Of a whole grey image (Komodakis 2011, Section 6):

- `scenes.py`: gist, local binary patterns, and the responses to filters from which textons are
  made;
- `words.py`: histograms of visual words over an image and its parts, and the χ² distance of
  histograms.
"""

from mlbook.images.pixels import (
    colour_and_position,
    dense_sift,
    labelled_pixels,
    pixel_features,
    resize_with_mask,
)
from mlbook.images.scenes import binary_patterns, filter_responses, gist
from mlbook.images.words import chi2_distances, word_pyramid

__all__ = [
    "binary_patterns",
    "chi2_distances",
    "colour_and_position",
    "dense_sift",
    "filter_responses",
    "gist",
    "labelled_pixels",
    "pixel_features",
    "resize_with_mask",
    "word_pyramid",
]
