// Creates elements. Texts are never parsed as HTML.

/** An element with properties (or attributes, if the name has a hyphen) and children. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-")) made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}
