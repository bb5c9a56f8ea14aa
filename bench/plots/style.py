"""How all plots look: Vow in its colour, the others in quieter ones that stay the same in every plot."""

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

VOW = "#d1495b"
RAW = "#9aa0a6"
OTHERS = (
    "#30638e", "#edae49", "#00798c", "#7d5ba6", "#8f6b4a", "#5f9e5f",
    "#c26ba0", "#3f88c5", "#b0892f", "#44546a", "#a05a2c", "#6c8ebf",
)  # fmt: skip

pyplot.rcParams.update(
    {
        "font.family": "DejaVu Sans",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "figure.facecolor": "white",
        "savefig.bbox": "tight",
        "svg.fonttype": "none",
        "svg.hashsalt": "vow",
    }
)


def colours(peers):
    """A colour for each peer by name: fixed by its place among all peers of the run."""
    others = [peer["name"] for peer in peers if peer["name"] not in ("vow", "raw")]
    result = {name: OTHERS[index % len(OTHERS)] for index, name in enumerate(others)}
    result.update(vow=VOW, raw=RAW)
    return result


def bar(name):
    """The colour of a bar: Vow's, or one for all others; the raw limits are lighter."""
    return {"vow": VOW, "raw": "#dfe3e8"}.get(name, "#b8c4d0")


def footer(figure, results):
    """The machine and the day, small, below."""
    machine = results["machine"]
    text = f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}; {results['date']}; median of "
    figure.text(0.005, -0.02, text + f"{results['settings']['rounds']} rounds", size=8, color="#666666")


def save(figure, out, name):
    """Both forms of one plot."""
    figure.savefig(out / f"{name}.png", dpi=150)
    figure.savefig(out / f"{name}.svg", metadata={"Date": None})
    pyplot.close(figure)
