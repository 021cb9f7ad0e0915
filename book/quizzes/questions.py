"""The self-check quizzes of the chapters: one function per chapter.

A number that is the right answer is computed here by the library, never typed. The wrong
answers are what a particular mistake leads to, and the text shown with each names it.
"""

from math import comb

import numpy as np
from scipy.optimize import linear_sum_assignment

from book.figures.comparison import population_ratios
from book.figures.mimlca import feasible_assignments
from book.figures.mlca import worst_case_risk
from book.figures.scale import state_bytes
from book.quizzes.quiz import Question
from mlbook.exemplars import exemplar_bound, solve_exemplars_exact
from mlbook.kmeans import distortion, trace_objective
from mlbook.mlca import MLCA
from mlbook.ncuts import normalized_cut_value
from mlbook.partitions import partition_loss, rand_loss

__all__ = [
    "change_points",
    "comparison",
    "kmeans",
    "latent_crf",
    "mimlca",
    "mlca",
    "scale",
    "segmentation",
]


def kmeans() -> list[Question]:
    """Ask about the trace, the bound and Δ."""
    x, labels = np.array([[0.0], [2.0], [7.0]]), [0, 0, 1]
    factor = distortion(x, labels, 4 * np.eye(1)) / distortion(x, labels)
    merged = partition_loss(np.repeat([0, 1, 2, 3], [1, 2, 3, 6]), np.zeros(12, dtype=int))
    return [
        Question(
            "The points 0, 2, 7 form the clusters {0, 2} and {7}. What is ⟨C, xxᵀ⟩?",
            [
                (f"{distortion(x, labels):g}", "That is the distortion, ⟨I − C, xxᵀ⟩."),
                (
                    "50",
                    "You added the squares of the means 1 and 7. Each counts as often as its "
                    "cluster has points.",
                ),
                (
                    f"{trace_objective(x, labels):g}",
                    "The means are 1 and 7, and 2·1² + 1·7² = 51. With the distortion 2 this "
                    "makes 53, the sum of all squares.",
                ),
                (
                    f"{np.sum(x**2):g}",
                    "That is the sum of all squares, trace and distortion together.",
                ),
            ],
            right=2,
        ),
        Question(
            "All points are moved by the same vector, and the partition stays. What may change?",
            [
                (
                    "only the trace ⟨C, XXᵀ⟩",
                    "C knows the partition and nothing of the points; distances to means do not "
                    "change. The sum of squares does, and the trace with it. This is why the "
                    "bound should be taken on centred data.",
                ),
                (
                    "the trace and the distortion",
                    "The distortion is made of distances between points and their means, and both "
                    "are moved.",
                ),
                (
                    "only the distortion",
                    "It is the other way round: distances to the means stay, squared lengths do "
                    "not.",
                ),
                ("the matrix C", "C depends on who is with whom, not on where the points are."),
            ],
            right=0,
        ),
        Question(
            "The metric M is multiplied by 4. What happens to the best partition and to its "
            "distortion?",
            [
                (
                    "It may change; the distortion as well.",
                    "All partitions are charged by the same factor, so the best stays best.",
                ),
                (
                    "It stays; the distortion is multiplied by 2.",
                    "Distances are doubled, but the objective adds squared distances.",
                ),
                (
                    f"It stays; the distortion is multiplied by {factor:g}.",
                    "The objective is linear in M.",
                ),
                (
                    "It stays; the distortion is multiplied by 16.",
                    "M already is the square of a scale: M = LLᵀ.",
                ),
            ],
            right=2,
        ),
        Question(
            "k-means ends with the distortion 100, and spectral_bound says 80. What is proved?",
            [
                (
                    "The best partition has the distortion 80.",
                    "80 is what no partition can beat. Whether one attains it is open.",
                ),
                (
                    "k-means is stuck in a local optimum.",
                    "It may be optimal already: the bound comes from a larger set and can have "
                    "slack.",
                ),
                (
                    "Δ to the true clusters is at most 0.2.",
                    "The bound speaks about the objective. Of the truth it knows nothing.",
                ),
                (
                    "No partition into k clusters has a distortion below 80.",
                    "So at most a fifth of 100 can be saved; how much of that really can be is "
                    "not said.",
                ),
            ],
            right=3,
        ),
        Question(
            "With 2 features and 3 clusters, spectral_bound is 0 on every data set. Why?",
            [
                (
                    "Centred data in 2 features have at most two singular values, and k − 1 = 2 "
                    "are taken away.",
                    "A projector of rank k − 1 can hold all columns of centred data as soon as d "
                    "≤ k − 1. Then the bound says nothing.",
                ),
                (
                    "The allowance for rounding errors eats it up.",
                    "That allowance is tiny. In exact arithmetic the bound is zero, too.",
                ),
                (
                    "Three clusters in the plane can be found without error.",
                    "The best distortion is positive, unless there are only three different "
                    "points.",
                ),
            ],
            right=0,
        ),
        Question(
            "There are four true clusters of different sizes. A method puts all points into one. "
            "How large is Δ?",
            [
                (
                    "It depends on the sizes.",
                    "The sum of n²ᵢⱼ/(aᵢbⱼ) is Σ aᵢ²/(aᵢn) = 1 for all sizes.",
                ),
                (
                    f"{merged:g}",
                    "k + k̂ − 2·1 = 4 + 1 − 2. It is the largest value possible for these numbers "
                    "of clusters: one big cluster says nothing about the truth.",
                ),
                (
                    "5",
                    "That is k + k̂. Two partitions always overlap by at least 1, in the constant "
                    "vector.",
                ),
                (
                    "6",
                    "2k − 2 is the largest Δ of two partitions into four clusters. Here one has a "
                    "single cluster.",
                ),
            ],
            right=1,
        ),
    ]


def mlca() -> list[Question]:
    """Ask about the risk, the fit and the traps."""
    rng = np.random.default_rng(0)
    y = np.array([0, 0, 1, 1])
    blind = worst_case_risk(rng.normal(size=(4, 3)), np.zeros((3, 3)), y)
    centred = rng.normal(size=(30, 5))
    centred -= centred.mean(axis=0)
    rank = np.linalg.matrix_rank(MLCA().fit(centred, np.arange(30) % 3).components_)
    apart = 1 / 4 + 1 / 100
    return [
        Question(
            "Four points, two classes, M = 0. What is the worst-case risk R(M)?",
            [
                (
                    "0",
                    "The truth is among the solutions, but so is everything else. The risk is "
                    "that of the worst.",
                ),
                (
                    "2",
                    "That is the largest Δ between two partitions, which share the constant "
                    "vector. Projectors need not.",
                ),
                (
                    f"{blind:.0f}",
                    "Every projector of rank 2 is a solution, among them one that is orthogonal "
                    "to C: Δ = 2k − 0.",
                ),
            ],
            right=2,
        ),
        Question(
            "After training, with k ≤ rank X, the residual ‖XW − J‖² is 0.3. What is the smallest "
            "risk that any metric can have on these data?",
            [
                (
                    "0.3",
                    "The risk compares projectors; what is missing in the indicators counts twice "
                    "there.",
                ),
                ("0.6", "No metric goes below twice the residual, and this one attains it."),
                (
                    "0; somebody may find a better metric.",
                    "The theorem is about all M ⪰ 0. To lower the risk, change the features.",
                ),
                (
                    "Nobody knows before clustering.",
                    "It is the surprise of the chapter that one does: the residual of a "
                    "regression tells.",
                ),
            ],
            right=1,
        ),
        Question(
            "A perfect fit, classes of 4 and of 100 points. How large is the squared distance "
            "between the two in the space of XW?",
            [
                (
                    "2",
                    "That would be the distance of unit vectors, after regression onto Y. The "
                    "columns of J have entries 1/√n.",
                ),
                (
                    "104",
                    "That is the sum of the sizes. Small classes lie far out, large ones near the "
                    "origin.",
                ),
                (
                    f"{apart:g}",
                    "The classes are at e₁/√4 and e₂/√100: 1/4 + 1/100. Two large classes lie "
                    "close together.",
                ),
                ("0.16", "(1/2 − 1/10)² would be right on one axis; each class has its own."),
            ],
            right=2,
        ),
        Question(
            "You centre the data and learn from three classes. How many singular values of XW can "
            "be non-zero at most?",
            [
                (
                    "3, one for each class",
                    "The weighted sum of the columns of W is X†1, and that is zero for centred X.",
                ),
                (
                    f"{rank}",
                    "Centring costs one dimension. A third singular vector would be rounding "
                    "noise, blown up to length 1.",
                ),
                (
                    "d, one for each feature",
                    "W has three columns; its rank is at most three, and centring takes one more.",
                ),
            ],
            right=1,
        ),
        Question(
            "In training and test data, feature 1 is given in grams instead of kilograms. The "
            "columns of X are independent. What happens to MLCA?",
            [
                (
                    "Feature 1 now dominates, as for k-means.",
                    "The Euclidean distance would suffer. A regression divides the coefficient of "
                    "feature 1 by 1000.",
                ),
                ("M stays the same.", "The map X ↦ XW stays. So W must change where X does."),
                (
                    "Nothing: all points are mapped to the same places as before.",
                    "(XA)† = A⁻¹X†, so XA times the new W is XW. Rescaling features first is a "
                    "waste of time.",
                ),
            ],
            right=2,
        ),
        Question(
            "With d = k = 3, MLCA with the spectral step reaches Δ = 0.08 on test data, the "
            "Euclidean distance without it Δ = 3. What does this show?",
            [
                (
                    "Learning the metric has solved the problem.",
                    "Try the Euclidean distance with the same step before you say so.",
                ),
                (
                    "Nothing about the learned metric.",
                    "W is invertible, so XW has the column space of X, and the step forgets W. "
                    "The Euclidean distance with the step does as well.",
                ),
                (
                    "The test data are easier than the training data.",
                    "Both come from the same source; the difference lies in the step.",
                ),
            ],
            right=1,
        ),
    ]


def latent_crf() -> list[Question]:
    """Ask about certificates, slaves and the floor of the relaxed loss."""
    D = np.array([[0.0, 1.0], [1.0, 0.0]])
    bound = exemplar_bound(D, 3.0, [3.0, 3.0])
    best = solve_exemplars_exact(D, 3.0, random_state=0).energy
    floor = 2 * 20 * (1 - 1 / 12)
    return [
        Question(
            "Somebody hands you a clustering of energy 100 and prices v with L(v) = 90. What do "
            "you know?",
            [
                (
                    "The clustering is optimal: it has prices.",
                    "Every v is a valid set of prices. Optimality is proved only if the two "
                    "numbers meet.",
                ),
                (
                    "The optimum is 90.",
                    "90 is a lower bound. A better v may raise it, or the relaxation may be loose.",
                ),
                (
                    "A better clustering exists.",
                    "The gap may come from poor prices or from the relaxation.",
                ),
                (
                    "At most a tenth of the energy can be saved.",
                    "No clustering is below 90. Whether any is below 100 is open.",
                ),
            ],
            right=3,
        ),
        Question(
            "Two points at distance 1, price f = 3 for an exemplar. What does v = (3, 3) prove: "
            "how large is L(v)?",
            [
                (
                    f"{bound:g}",
                    "What each shop lacks is r = 3 − 3 − (3 − 1) = −2, so L = 6 − 2 − 2. A valid "
                    "bound, and a poor one: too much was offered. v = (2, 2) proves 4.",
                ),
                (
                    f"{best:g}",
                    "That is the optimum, one exemplar and one way. Weak duality says L(v) ≤ 4; "
                    "here v is too large to attain it.",
                ),
                (
                    "6",
                    "The sum of v counts in full only if no shop is overpaid. Without the terms "
                    "min(0, r) it would be above the optimum, 4: no bound at all.",
                ),
            ],
            right=0,
        ),
        Question(
            "Why must the prices λ of each variable sum to zero over its copies?",
            [
                (
                    "So that the solutions of the slaves are feasible.",
                    "Slaves obey their own constraints at all prices; they may still disagree "
                    "with each other.",
                ),
                (
                    "So that they cancel when all slaves agree.",
                    "Then the slaves add up to the augmented energy at every x, and the sum of "
                    "their minima is a lower bound of its minimum.",
                ),
                (
                    "So that the subgradient steps converge.",
                    "Shrinking steps do that. Without the condition there would be no bound to "
                    "climb.",
                ),
            ],
            right=1,
        ),
        Question(
            "Slave p goes to exemplar q because its total is the smallest, although "
            "$\\theta_q=0.2$ is positive. What is its copy of $x_{qq}$?",
            [
                (
                    "0: opening q costs 0.2.",
                    "This is the printed rule. Then p is assigned to a closed exemplar, nobody "
                    "votes, and the prices stop moving.",
                ),
                (
                    "Either; the master decides later.",
                    "The master sees votes only. A slave's answer has to be feasible by itself.",
                ),
                (
                    "1: who is assigned to q must open q.",
                    "$x_{pq}\\le x_{qq}$ is a constraint of slave p, and the 0.2 is already in "
                    "the total.",
                ),
            ],
            right=2,
        ),
        Question(
            "Training ends at a relaxed loss of 40, with α = 1 and 20 tight clusters of 12 points "
            "each. What follows?",
            [
                (
                    "About 40 points are clustered wrongly.",
                    "The relaxed loss bounds the true loss from above, and loosely.",
                ),
                (
                    "The weights are poor; train on.",
                    "As long as the clusters are tight, no weights can bring this loss much lower.",
                ),
                (
                    f"Little: {floor:.1f} of it can be the floor of the relaxation.",
                    "2α·20·(1 − 1/12): every point a twelfth of an exemplar. The true hinge loss "
                    "may be near zero.",
                ),
            ],
            right=2,
        ),
        Question(
            "The price f of an exemplar is raised. What can happen to the number of exemplars in "
            "an optimal clustering?",
            [
                (
                    "It stays, because f is the same for all points.",
                    "A constant per point would cancel. f is paid per exemplar.",
                ),
                (
                    "It falls or stays.",
                    "Write down that each solution is best for its own price and add: (f′ − f)(k′ "
                    "− k) ≤ 0.",
                ),
                (
                    "It may rise as well as fall.",
                    "Adding the two inequalities of optimality rules out a rise.",
                ),
            ],
            right=1,
        ),
    ]


def mimlca() -> list[Question]:
    """Ask about feasible names, the theorem and its limits."""
    ways = len(list(feasible_assignments([0, 3], np.array([[1, 1]]))))
    costs = np.array([[1.0, 2.0], [2.0, 6.0]])
    paid = costs[linear_sum_assignment(costs)].sum()
    alpha = 0.5 * np.sqrt(100_000 / 1000)
    return [
        Question(
            "A photograph shows three faces and its caption has two names. How many feasible "
            "assignments are there?",
            [
                (f"{comb(3, 2)}", "You chose who is named, and forgot to say who is who."),
                (f"{ways}", "Choose two faces, 3 ways, and match them with the names, 2 ways."),
                (
                    "8",
                    "2³ gives each face any of the names. A name is given once, and one face has "
                    "none.",
                ),
                (
                    "9",
                    "3² gives each name any of the faces. Two names would land on one face in "
                    "three of these.",
                ),
            ],
            right=1,
        ),
        Question(
            "Two instances and two labels have the costs (1, 2) and (2, 6). What does the "
            "assignment step pay for this bag?",
            [
                ("3", "Each instance takes its cheapest label, and both take the same one."),
                (f"{paid:g}", "2 + 2, crosswise. The cheap 1 would force the 6."),
                ("7", "That is greedy: the 1 first, and then what is left."),
            ],
            right=1,
        ),
        Question(
            "On which labels does the optimal metric M* of Theorem 2.1 depend?",
            [
                (
                    "on the labels of the bags",
                    "They decide the assignment. M* = X†(X†)ᵀ has only X in it.",
                ),
                (
                    "on the names found by the algorithm",
                    "The metric that MIMLCA returns does, by a second fit: MLCA on the named "
                    "rows. M* does not.",
                ),
                (
                    "on none",
                    "It is whitening. The theorem says that this fixed metric is good enough to "
                    "find the names.",
                ),
            ],
            right=2,
        ),
        Question(
            "With a Gaussian kernel, every start ends at once with the same objective, 412. What "
            "has happened?",
            [
                (
                    "All starts have found the same, best names.",
                    "All objectives are equal because they do not depend on the data. The names "
                    "differ from start to start.",
                ),
                (
                    "The kernel matrix is invertible, so UUᵀ = I.",
                    "The objective is the number of named instances minus that of categories in "
                    "use, for every assignment. Keep fewer directions.",
                ),
                (
                    "The kernel is too wide.",
                    "A width changes K, but as long as K is invertible KK† = I, whatever the "
                    "width.",
                ),
            ],
            right=1,
        ),
        Question(
            "A caption has three names, one of them of somebody who is not in the picture. There "
            "are three faces, one of a stranger. What does MIMLCA do?",
            [
                (
                    "It names two faces; nobody is near the third name.",
                    "It has no such choice: exactly min(3, 3) faces get a name.",
                ),
                (
                    "It names all three, at least one of them wrongly.",
                    "Every name lands on somebody. A reject option has to be added, with a price.",
                ),
                (
                    "That depends on the distances.",
                    "Distances decide who gets which name, not how many are named.",
                ),
            ],
            right=1,
        ),
        Question(
            "A colleague finds α = 0.5 best on 1000 faces and wants to use it on 100 000 faces of "
            "the same persons. Which α gives about the same cuts?",
            [
                ("0.05", "The scores shrink like 1/√n and the penalty like 1/n: α has to grow."),
                ("0.5", "α depends on how many faces a person has. Quote α/√n."),
                (f"{alpha:g}", "√r·α for r times the data, here r = 100."),
                ("50", "It grows with the square root of the data, not with the data."),
            ],
            right=2,
        ),
    ]


def change_points() -> list[Question]:
    """Ask about cuts, prices, the hinge and its certificate."""
    x = np.repeat([0.0, 2.0], [3, 6])[:, None]
    gain = distortion(x, np.zeros(9, dtype=int)) - distortion(x, np.repeat([0, 1], [3, 6]))
    return [
        Question(
            "Two stretches of 3 and 6 points have means that differ by 2. By how much does the "
            "cut between them lower the distortion?",
            [
                ("4", "That is the squared difference. It is multiplied by pq/(p + q)."),
                (
                    f"{gain:g}",
                    "pq/(p + q) = 18/9 = 2, times 2² = 4. At a price below 8 the cut pays.",
                ),
                (
                    "36",
                    "Nine points times 4 would be the saving if all points moved by 2. The common "
                    "mean lies between.",
                ),
            ],
            right=1,
        ),
        Question(
            "The least distortions with 1, 2 and 3 segments are 10, 9 and 1. Which price λ gives "
            "two segments?",
            [
                (
                    "any λ between 1 and 8",
                    "Here three segments cost less than two, and so does one: try λ = 2 and λ = 5.",
                ),
                ("any λ below 1", "Then the third segment pays at once: it saves 8."),
                (
                    "none",
                    "The point (2, 9) lies above the line from (1, 10) to (3, 1), whose height at "
                    "2 is 5.5. Prices reach the lower convex hull only.",
                ),
            ],
            right=2,
        ),
        Question(
            "Why can the best segmentation be found exactly, although the best partition cannot?",
            [
                ("There are few segmentations.", "There are 2ⁿ⁻¹. Nobody lists them for n = 200."),
                (
                    "What lies before the last segment is a segmentation of fewer points.",
                    "So n subproblems suffice, each solved once. A cluster of a free partition "
                    "leaves a rest that may be any subset.",
                ),
                (
                    "The objective is linear in C.",
                    "So it is for free partitions. What differs is the set over which it is "
                    "maximized.",
                ),
            ],
            right=1,
        ),
        Question(
            "Loss-augmented inference is done by a heuristic that may miss the worst mistake. "
            "What is lost?",
            [
                (
                    "The cuts are no longer below h.",
                    "Every segmentation gives a function below the maximum, the worst one or not.",
                ),
                (
                    "h is no longer convex.",
                    "h is what it is; only its value is not known any more.",
                ),
                (
                    "The value found may be too small to bound the loss.",
                    "A mistake that nobody found is not charged. An error upwards, by a larger "
                    "set, would be harmless.",
                ),
            ],
            right=2,
        ),
        Question(
            "There is no regularizer, and yet the metric learned with λ = 1 is too small to see "
            "changes that long segments make obvious. Who pulls it down?",
            [
                (
                    "the segmentation into single points",
                    "Its loss and its price cancel, so h is at least the distortion of the truth, "
                    "and h(0) = 2k − 2 is not much.",
                ),
                (
                    "the segmentation into one segment",
                    "That one asks for larger weights: at M = 0 it is the worst mistake.",
                ),
                (
                    "the dynamic program, which prefers few segments",
                    "It maximizes exactly what it is given. The objective asks for it.",
                ),
            ],
            right=0,
        ),
        Question(
            "The duality gap is zero. What is proved?",
            [
                (
                    "The training sequences are segmented correctly.",
                    "The smallest J need not be zero, and J is not the loss.",
                ),
                (
                    "New sequences will be segmented well.",
                    "Nothing about other sequences is in the certificate. Look at their loss.",
                ),
                (
                    "No metric has a smaller objective J.",
                    "That, and only that. It is a proof about the optimization.",
                ),
            ],
            right=2,
        ),
    ]


def segmentation() -> list[Question]:
    """Ask about scores, cuts, the hinge and the two losses."""
    W = np.diag([2.0, 1.0, 2.0], k=1)
    ncut = normalized_cut_value(W + W.T, [0, 0, 1, 1])
    share, explained = 0.05, 0.3
    mean = (2 * share - 1) + explained * (2 - 2 * share)
    mask = np.repeat([0, 1], [97, 3])
    losses = rand_loss(mask, 0 * mask), partition_loss(mask, 0 * mask)
    return [
        Question(
            "A path of four nodes has the affinities 2, 1, 2. How large is the normalized cut in "
            "the middle?",
            [
                ("0.2", "That is one of the two terms, 1/5."),
                (
                    f"{ncut:.1f}",
                    "The degrees are 2, 3, 3, 2, so each side has the volume 5 and loses 1 of it: "
                    "1/5 + 1/5.",
                ),
                (
                    "0.5",
                    "You divided by the affinity inside, 4. The volume counts what is cut as well.",
                ),
                ("1", "That is the cut. Without the volumes, single pixels would be cut off."),
            ],
            right=1,
        ),
        Question(
            "An object has 5% of the pixels, and the least-squares fit of the scores ±1 explains "
            "R² = 0.3. What is the mean score of its pixels?",
            [
                (
                    f"{mean:.2f}".replace("-", "−"),
                    "s̄ + R²(1 − s̄) with s̄ = −0.9. By its sign, the average pixel of the object "
                    "is background.",
                ),
                ("0.30", "The fit shrinks towards the mean score, −0.9, and not towards 0."),
                ("1.00", "Only a perfect fit keeps the scores ±1."),
            ],
            right=0,
        ),
        Question(
            "Before learning, each image is centred by itself. Why does this help MLCA and change "
            "nothing for normalized cuts with Gaussian affinities?",
            [
                (
                    "Normalized cuts divide by the degrees, which removes the light.",
                    "Degrees are sums of affinities, and these do not change by a shift in the "
                    "first place.",
                ),
                (
                    "Affinities hold differences within one image only.",
                    "A shift of the whole image cancels. MLCA puts the pixels of all images into "
                    "one regression, where it does not.",
                ),
                (
                    "The eigenvectors are orthogonal to the constant.",
                    "The second one is, with the degrees as weights. But the shift is gone before "
                    "there is any eigenvector.",
                ),
            ],
            right=1,
        ),
        Question(
            "Why does lowering the majorizer never raise the hinge h?",
            [
                (
                    "Because the majorizer is convex.",
                    "Over projectors it need not be, as five points on a line show. The argument "
                    "does not need it.",
                ),
                (
                    "Because a step goes against the gradient of h.",
                    "Such a step can be too long. No step size on h is chosen here.",
                ),
                (
                    "Because it lies above h and touches it where we stand.",
                    "So h(b) ≤ q(b) ≤ q(a) = h(a). The tangent lies below S since C has no "
                    "negative entries.",
                ),
            ],
            right=2,
        ),
        Question(
            "With k = 2 the mean hinge ends at 2.0, and the cuts are poor. What do you suspect?",
            [
                (
                    "Affinities near the identity, or all equal.",
                    "Both empty metrics have the hinge 2(k − 1) = 2. Look at the scale, and fix "
                    "it.",
                ),
                (
                    "Two images out of all are wrong.",
                    "The hinge is a bound on Δ, not a count of images.",
                ),
                (
                    "The descent was stopped too early.",
                    "It may go on for ever towards an empty metric: where the hinge is least is "
                    "not where the cut is best.",
                ),
            ],
            right=0,
        ),
        Question(
            "Three pixels of 100 are object. A method calls everything background. What are the "
            "Rand loss and Δ?",
            [
                (
                    "0.03 and 0.03",
                    "Three in a hundred is the share of wrong pixels. Neither loss counts pixels.",
                ),
                (
                    f"{losses[0]:.2f} and {losses[1]:.0f}",
                    "The Rand loss sees 3·97 wrong pairs of 4950. Δ = 2 + 1 − 2·1: a whole "
                    "cluster is lost, however small.",
                ),
                (
                    "0.50 and 1",
                    "Half the clusters are wrong, but the Rand loss counts pairs, and most are "
                    "right.",
                ),
            ],
            right=1,
        ),
    ]


def comparison() -> list[Question]:
    """Ask about units, rank, wrong labels and what a score hides."""
    ratio = {name: value for name, value, _ in population_ratios()}
    return [
        Question(
            "The nuisance grows from deviation 4 to 16, and the learned distances of MLCA between "
            "test rows stay the same. Why?",
            [
                (
                    "MLCA gives the nuisance the weight zero.",
                    "Only in the population. In a sample it gets some weight, and the distances "
                    "still do not change.",
                ),
                (
                    "MLCA standardises the features first.",
                    "It does not, and need not: any invertible change of units cancels.",
                ),
                (
                    "X† takes the change of units back.",
                    "(XG)† = G⁻¹X†, so a test row Gᵀx is mapped to where x was.",
                ),
            ],
            right=2,
        ),
        Question(
            "In the worked example, how far apart are centres, in units of the spread, after RCA?",
            [
                (
                    f"{ratio['RCA']:.2f}",
                    "24 / (6 + 12): RCA makes every direction equally wide within a cluster, "
                    "twelve of them useless.",
                ),
                (
                    f"{ratio['standardised']:.2f}",
                    "That is standardising: it divides the signal by b + w, its own separation "
                    "included.",
                ),
                (
                    f"{ratio['LDA, KISSME, MLCA']:g}",
                    "That drops the nuisance, which RCA does not: it has never seen two classes.",
                ),
            ],
            right=0,
        ),
        Question(
            "Five training classes, forty features, and tomorrow there will be new classes. You "
            "take LDA. What do you bet on?",
            [
                (
                    "that the classes are normal with one covariance",
                    "As a metric, LDA needs second moments only. The bet lies elsewhere.",
                ),
                (
                    "that new classes differ in the four directions in which the old ones do",
                    "LDA keeps one direction less than it has classes. What lies outside is gone: "
                    "compare with RCA on held-out classes.",
                ),
                (
                    "nothing: LDA keeps all forty features",
                    "It keeps at most four directions, one less than it has classes.",
                ),
            ],
            right=1,
        ),
        Question(
            "A fifth of the labels was replaced by random ones. Which metric is the same up to a "
            "factor, with enough rows and equal classes?",
            [
                (
                    "RCA's",
                    "Its within-class scatter takes in a part of the between-class scatter, and "
                    "shrinks those very directions.",
                ),
                (
                    "MLCA's",
                    "Total scatter knows no labels, and the between-class scatter only gets the "
                    "factor (1 − ρ)².",
                ),
                (
                    "that of the large-margin method",
                    "It takes every partition at its word. With enough contradictions the zero "
                    "metric has the smallest hinge.",
                ),
            ],
            right=1,
        ),
        Question(
            "Method A has a smaller Δ than B, and both have an adjusted Rand index of 0. What may "
            "A have done?",
            [
                (
                    "It found most clusters, but split them.",
                    "Then its adjusted Rand index would be well above 0.",
                ),
                (
                    "It gave up and returned one cluster.",
                    "One cluster has Δ = k − 1, less than a random partition into k parts.",
                ),
                (
                    "It permuted the labels.",
                    "Neither score looks at the names of the clusters.",
                ),
            ],
            right=1,
        ),
    ]


def scale() -> list[Question]:
    """Ask about states, merging, digits and stragglers."""
    sent = state_bytes(100, 10) / 1e3
    return [
        Question(
            "Two machines have learned W₁ and W₂ from halves of the rows. When is (W₁ + W₂)/2 at "
            "least a multiple of the W of all rows?",
            [
                (
                    "if both halves have equally many rows",
                    "The worked example has two rows each, and the average is wrong.",
                ),
                (
                    "only by luck",
                    "States add; answers do not: the inverse of a sum is not the mean of "
                    "inverses. Halves that agree in XᵀX and in their class sizes would be such "
                    "luck.",
                ),
                (
                    "if both halves have equally many rows of each class",
                    "The worked example has one row of each class in each half, and the average "
                    "is wrong.",
                ),
            ],
            right=1,
        ),
        Question(
            "A machine has digested a million rows with 100 features and 10 classes, in double "
            "precision. How much does it send?",
            [
                ("8 kB", "That is W itself. Answers cannot be merged."),
                (f"about {sent:.0f} kB", "8(d² + dk + k) bytes: the number of rows is not in it."),
                (
                    "80 MB",
                    "Those are 10 numbers per row. Class sums are enough, 10 columns in all.",
                ),
                ("800 MB", "Those are the rows. They stay where they are."),
            ],
            right=1,
        ),
        Question(
            "X has the condition number 10⁶, and the fit is good. How many of 16 digits of W "
            "survive, by Cholesky from XᵀX and by QR?",
            [
                (
                    "about 10 and 10",
                    "Both solve the same problem, but XᵀX has the condition number 10¹².",
                ),
                (
                    "about 4 and 10",
                    "Errors of about κ²u = 10⁻⁴ and κu = 10⁻¹⁰. (A poor fit can cost QR more, "
                    "because then W itself is more sensitive.)",
                ),
                (
                    "about 4 and 16",
                    "QR does not square κ, but it loses the digits that the data themselves leave "
                    "uncertain.",
                ),
            ],
            right=1,
        ),
        Question(
            "The same rows on 7 and on 8 machines give metrics that differ in the last digits. Is "
            "this a bug?",
            [
                (
                    "Yes: merging is associative and commutative.",
                    "In exact arithmetic it is. The theorem is about sums, not about their "
                    "rounding.",
                ),
                (
                    "Yes: some chunk must have lacked a class.",
                    "A missing class adds a column of zeros, and nothing goes wrong.",
                ),
                (
                    "No: floating-point addition is not associative.",
                    "Other chunks, other roundings. For equal bits fix the chunks and the tree.",
                ),
            ],
            right=2,
        ),
        Question(
            "100 workers have one chunk each, and five of them are five times slower. How much "
            "longer does the whole run take than without them?",
            [
                ("about 1.05 times", "That would count a slow worker as one that is missing."),
                (
                    f"about {0.95 + 0.05 * 5:g} times",
                    "That is the mean. The result waits for the last chunk, not for the average "
                    "one.",
                ),
                (
                    "about 5 times",
                    "Everybody waits for the slowest. Smaller chunks let the fast workers take "
                    "over.",
                ),
            ],
            right=2,
        ),
    ]
