/** XML documents of plain values. */

/** A document whose root has this name. Fields that are undefined are absent, null is an empty element, a list repeats its name. */
export const xmlOf = (root: string, value: unknown): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${elements(root, listed(root, value))}`;

/** A document has one root: a list at the root is inside an element of its name. */
const listed = (root: string, value: unknown): unknown =>
  Array.isArray(value) ? { [root.replace(/s$/, '')]: value } : value;

/** Elements of a name: one for each item of a list. Fields that are undefined have none. */
function elements(name: string, value: unknown): string {
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.map((item) => elements(name, item)).join('');
  if (value === null) return `<${name}/>`;
  return `<${name}>${content(value)}</${name}>`;
}

function content(value: unknown): string {
  if (typeof value !== 'object' || value === null) return escaped(String(value));
  return Object.entries(value)
    .map(([name, field]) => elements(name, field))
    .join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text without the characters that XML cannot have (XML 1.0, 2.2). */
const escaped = (text: string): string =>
  text
    .replace(/[&<>"']/g, (one) => ESCAPES[one] ?? '')
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      '',
    );
