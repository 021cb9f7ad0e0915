/* The end of a live figure in a notebook, for anywidget: the only file that exports. */
export default {
  render({ model, el }) {
    el.innerHTML = model.get("_markup");
    const figure = mlbookLive.wake(el.querySelector("figure.mlbook-live"), {
      state: model.get("state"),
      changed(state) {
        model.set("state", state);
        model.save_changes();
      },
    });
    const follow = () => {
      if (model.get("state") !== figure.state) figure.set(model.get("state"));
    };
    model.on("change:state", follow);
    return () => {
      model.off("change:state", follow);
      figure.stop();
    };
  },
};
