"""Law 2017: the numbers that its tables print, by row and column of ours."""

from collections.abc import Mapping

from book.reproduction.experiment import Number
from book.reproduction.law2017_faces import ALPHAS, EUCLIDEAN, MLCA_A

Cells = dict[str, dict[str, Number]]  # by row and key of the column

# Accuracy and precision with their standard deviations, training time in seconds (0: none).
PRINTED1 = {
    EUCLIDEAN: ("57.0 ± 2.4", "56.7 ± 2.0", 0),
    MLCA_A: ("66.8 ± 4.2", "77.7 ± 2.2", 59),
    "MIML (b)": ("56.1 ± 3.3", "55.5 ± 2.6", 17728),
    "MildML (b)": ("54.9 ± 3.6", "54.6 ± 3.3", 7352),
    "MIMLCA (b)": ("65.3 ± 3.7", "76.6 ± 2.1", 163),
    "MIML (c)": ("52.6 ± 13.0", "52.2 ± 13.8", 19091),
    "MildML (c)": ("33.9 ± 3.0", "31.2 ± 2.9", 7520),
    "MIMLCA (c)": ("63.2 ± 4.7", "74.9 ± 3.0", 180),
}
PRINTED2 = {
    "MildML (b)": ("52.4 ± 4.7", "62.2 ± 2.9", 0),
    "MildML (c)": ("55.7 ± 4.4", "66.0 ± 2.1", 0),
}
# Accuracy, then precision, for each α.
PRINTED3 = {
    "linear MLCA (a)": (
        ("77.6 ± 3.1", "88.0 ± 2.2", "88.5 ± 2.1", "89.5 ± 2.0", "89.3 ± 1.8", "88.9 ± 2.0"),
        ("78.0 ± 2.0", "88.8 ± 1.3", "89.4 ± 1.4", "90.8 ± 1.1", "91.5 ± 1.0", "91.4 ± 1.0"),
    ),
    "linear MIMLCA (b)": (
        ("74.2 ± 2.7", "85.9 ± 2.1", "86.5 ± 2.0", "87.7 ± 1.9", "87.4 ± 1.8", "87.1 ± 2.0"),
        ("74.8 ± 1.8", "87.0 ± 1.4", "87.7 ± 1.3", "89.3 ± 1.0", "89.9 ± 1.2", "90.0 ± 1.3"),
    ),
    "linear MIMLCA (c)": (
        ("69.9 ± 2.5", "81.2 ± 2.6", "81.9 ± 2.5", "83.6 ± 2.3", "83.9 ± 2.1", "83.7 ± 2.0"),
        ("71.7 ± 1.5", "83.0 ± 1.4", "83.8 ± 1.4", "85.6 ± 1.4", "86.9 ± 1.5", "87.0 ± 1.5"),
    ),
    "χ² MLCA (a)": (
        ("77.2 ± 3.0", "94.4 ± 1.6", "94.5 ± 1.8", "92.5 ± 2.0", "87.1 ± 2.2", "84.5 ± 2.9"),
        ("73.6 ± 1.8", "95.3 ± 1.0", "95.5 ± 1.2", "94.9 ± 1.1", "92.3 ± 1.4", "91.0 ± 1.7"),
    ),
    "χ² MIMLCA (b)": (
        ("74.0 ± 2.9", "92.6 ± 1.8", "92.8 ± 1.6", "91.1 ± 2.0", "84.5 ± 2.5", "82.0 ± 2.6"),
        ("70.6 ± 1.8", "93.6 ± 1.2", "94.0 ± 1.0", "93.7 ± 1.1", "90.6 ± 1.5", "89.4 ± 1.6"),
    ),
    "χ² MIMLCA (c)": (
        ("67.1 ± 2.9", "88.2 ± 1.9", "88.5 ± 2.1", "87.2 ± 1.8", "81.1 ± 3.3", "78.6 ± 3.6"),
        ("63.7 ± 1.8", "89.0 ± 1.3", "89.7 ± 1.5", "90.0 ± 1.3", "87.5 ± 2.2", "86.3 ± 2.4"),
    ),
}
# One-error, coverage, average precision, seconds (0: none given).
PRINTED4 = {
    "MIMLCA": ("0.516", "4.829", "0.575", 24),
    "MIML, as reported by Jin et al.": ("0.565", "5.507", "0.535", 0),
    "MIML": ("0.673", "6.403", "0.462", 884),
    "MildML": ("0.619", "5.646", "0.499", 59),
    "Citation-kNN (Euclidean)": ("0.595", "5.559", "0.513", 0),
    "M-C2B": ("0.691", "6.968", "0.440", 211),
    "Minimax MI-kernel": ("0.734", "7.955", "0.398", 172),
    "MILES": ("0.722", "7.626", "0.412", 511),
    "miSVM": ("0.790", "9.730", "0.261", 504),
    "MILBoost": ("0.948", "13.412", "0.174", 106),
    "EM-DD": ("0.892", "10.527", "0.239", 38724),
    "MInD (meanmin)": ("0.759", "8.246", "0.373", 103),
    "MInD (minmin)": ("0.703", "7.337", "0.424", 138),
    "MInD (maxmin)": ("0.721", "7.857", "0.413", 95),
}
PRINTED7 = {
    "M-C2B (b)": ("6.6 ± 2.2", "7.2 ± 2.5", 2572),
    "miSVM (b)": ("4.5 ± 2.7", "2.3 ± 1.5", 610),
    "MILES (b)": ("8.2 ± 2.3", "9.2 ± 2.7", 240),
    "MILBoost (b)": ("8.8 ± 2.4", "9.7 ± 2.7", 182),
    "EM-DD (b)": ("1.3 ± 0.5", "1.8 ± 0.8", 13163),
    "Minimax MI-kernel (b)": ("5.5 ± 1.7", "6.2 ± 2.5", 358),
    "MInD (minmin) (b)": ("6.8 ± 2.5", "7.1 ± 2.4", 276),
    "MInD (maxmin) (b)": ("3.2 ± 1.5", "3.1 ± 1.4", 259),
    "MInD (meanmin) (b)": ("5.1 ± 1.9", "5.5 ± 1.8", 265),
    "M-C2B (c)": ("4.5 ± 1.8", "5.3 ± 1.9", 2762),
    "miSVM (c)": ("3.6 ± 1.2", "1.5 ± 0.8", 653),
    "MILES (c)": ("6.7 ± 2.0", "7.0 ± 1.2", 265),
    "MILBoost (c)": ("6.9 ± 2.3", "7.6 ± 1.8", 205),
    "EM-DD (c)": ("0.8 ± 0.2", "1.1 ± 0.3", 13484),
    "Minimax MI-kernel (c)": ("4.8 ± 1.0", "4.6 ± 1.3", 391),
    "MInD (minmin) (c)": ("5.5 ± 1.3", "5.3 ± 1.3", 296),
    "MInD (maxmin) (c)": ("1.8 ± 1.0", "1.5 ± 0.7", 281),
    "MInD (meanmin) (c)": ("3.6 ± 1.2", "3.4 ± 0.8", 291),
}
WRONG = {"MIMLCA (b)": "8.6", "MIMLCA (c)": "16.2"}  # Appendix A.9


def face_numbers(printed: Mapping[str, tuple[str, str, float]]) -> Cells:
    """Accuracy, precision, and training time as a multiple of MIMLCA's in the same scenario."""
    numbers: Cells = {}
    for row, (accuracy, precision, seconds) in printed.items():
        numbers[row] = {"accuracy": accuracy, "precision": precision}
        if seconds and not row.startswith("MIMLCA"):
            numbers[row]["time"] = seconds / (180 if row.endswith("(c)") else 163)
    return numbers


NUMBERS1 = face_numbers(PRINTED1)
for _row, _share in WRONG.items():
    NUMBERS1[_row]["wrong"] = _share
NUMBERS3: Cells = {
    row: {
        f"{key}{alpha:g}": number
        for key, line in zip(("accuracy", "precision"), lines, strict=True)
        for alpha, number in zip(ALPHAS, line, strict=True)
    }
    for row, lines in PRINTED3.items()
}
NUMBERS4: Cells = {}
for _row, (_oe, _coverage, _ap, _seconds) in PRINTED4.items():
    NUMBERS4[_row] = {"oe": _oe, "coverage": _coverage, "ap20": _ap}
    if _seconds and _row != "MIMLCA":
        NUMBERS4[_row]["time"] = _seconds / 24
