import type { ComponentChildren } from 'preact';

/** A figure with its name; a list of them is a `<dl class="figures">`. */
export function Figure({
  name,
  children,
  note,
  tone = '',
}: {
  readonly name: string;
  readonly children: ComponentChildren;
  readonly note?: string | undefined;
  readonly tone?: string;
}) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd class={tone}>{children}</dd>
      {note !== undefined && <dd class="note">{note}</dd>}
    </div>
  );
}
