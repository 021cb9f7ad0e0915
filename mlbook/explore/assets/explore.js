// Wakes the explorers that are still asleep: running it again does no harm.
for (const box of document.querySelectorAll(".mlbook-explore-controls[hidden]")) {
  const root = box.closest("figure");
  const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const image = root.querySelector("img");
  const caption = root.querySelector("[aria-live]");
  const pictures = [image.getAttribute("src"), ...data.pictures];
  const controls = [...box.children].map((control) => ({
    inputs: [...control.querySelectorAll("input")],
    output: control.querySelector("output"),
    button: control.querySelector("button"),
  }));

  // The same explorer twice on one page: keep ids and groups of buttons apart.
  const number = document.querySelectorAll(".mlbook-explore-controls:not([hidden])").length;
  for (const name of ["id", "for", "aria-labelledby", "name"]) {
    for (const element of box.querySelectorAll(`[${name}]`)) {
      element.setAttribute(name, `${element.getAttribute(name)}-${number}`);
    }
  }
  for (const input of box.querySelectorAll("[type=radio]")) input.checked = input.defaultChecked;

  const place = ({ inputs }) =>
    inputs.length > 1 ? inputs.findIndex((input) => input.checked) : Number(inputs[0].value);
  const stateAt = (places) =>
    data.states[places.reduce((all, at, i) => all * data.texts[i].length + at, 0)];
  const fetched = new Set();

  const show = () => {
    const places = controls.map(place);
    controls.forEach(({ inputs, output }, i) => {
      if (!output) return;
      output.value = data.texts[i][places[i]];
      inputs[0].setAttribute("aria-valuetext", output.value);
    });
    const [picture, alt, words] = stateAt(places);
    if (image.getAttribute("src") !== pictures[picture]) image.src = pictures[picture];
    root.classList.toggle("mlbook-explore-late", !image.complete);
    image.alt = alt;
    if (caption.textContent !== words) caption.textContent = words;
  };

  // Fetch what one step of one control would show, so that it is there when asked for.
  const fetchNeighbours = () => {
    const places = controls.map(place);
    places.forEach((at, i) => {
      const steps = controls[i].inputs.length > 1 ? data.texts[i].keys() : [at - 1, at + 1];
      for (const step of steps) {
        if (step < 0 || step >= data.texts[i].length) continue;
        const picture = pictures[stateAt(places.map((p, j) => (j === i ? step : p)))[0]];
        if (fetched.has(picture)) continue;
        fetched.add(picture);
        new Image().src = picture;
      }
    });
  };

  for (const { inputs: [slider], button } of controls) {
    if (!button) continue;
    let timer = 0;
    const stop = () => {
      clearInterval(timer);
      timer = 0;
      button.textContent = "Play";
      caption.setAttribute("aria-live", "polite");
    };
    const moveTo = (value) => {
      slider.value = value;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      if (slider.value === slider.max) stop();
    };
    button.addEventListener("click", () => {
      if (timer) return stop();
      button.textContent = "Pause";
      caption.setAttribute("aria-live", "off"); // not every step read aloud
      timer = setInterval(() => moveTo(Number(slider.value) + 1), 700);
      moveTo(slider.value === slider.max ? 0 : Number(slider.value) + 1);
    });
    slider.addEventListener("pointerdown", stop);
    slider.addEventListener("keydown", stop);
  }

  image.addEventListener("load", () => root.classList.remove("mlbook-explore-late"));
  box.addEventListener("input", () => {
    show();
    fetchNeighbours();
  });
  for (const sign of ["pointerenter", "focusin", "touchstart"]) {
    root.addEventListener(sign, fetchNeighbours, { once: true, passive: true });
  }
  window.addEventListener("pageshow", show); // a browser may restore controls after going back
  box.hidden = false;
  show();
}
