/**
 * The sidebar, read from the table of contents in `docs/README.md`: a group for each heading with links, and one for each plain line within it
 * that stands above links of its own.
 */
export function sidebarOf(contents) {
  const groups = [];
  for (const line of contents.split('\n')) {
    const heading = /^## (.+)$/.exec(line)?.[1];
    const link = /^- \[(.+?)\]\((.+?)\.md\)/.exec(line);
    const group = groups.at(-1);
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    else if (group === undefined) continue;
    else if (link !== null) {
      const item = { text: link[1], link: `/${link[2]}` };
      const last = group.items.at(-1);
      if (last?.items === undefined) group.items.push(item);
      else last.items.push(item);
    } else if (/^[A-Z][\w ]+$/.test(line)) group.items.push({ text: line, items: [] });
  }
  return groups.filter(({ items }) => items.length > 0);
}
