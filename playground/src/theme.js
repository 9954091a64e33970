// The theme: that of the system, light or dark.

const THEMES = ["system", "light", "dark"];

function stored() {
  try { return localStorage.getItem("theme"); } catch { return null; }
}

export function setUpTheme(button) {
  let theme = THEMES.includes(stored()) ? stored() : "system";
  const show = () => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  button.onclick = () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    try { localStorage.setItem("theme", theme); } catch { /* The choice lasts for this visit only. */ }
    show();
  };
  show();
}
