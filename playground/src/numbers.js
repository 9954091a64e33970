// Numbers for people, with separators: 1,234,567.

const format = new Intl.NumberFormat("en");

export function number(value) {
  return format.format(value);
}
