import type { ComponentChildren } from 'preact';
import { Rule } from '../why/rule.tsx';
import type { RuleName } from '../why/rule-pages.ts';

/** A figure with its name; a list of them is a `<dl class="figures">`. */
export function Figure({
  name,
  children,
  note,
  tone = '',
  rule,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
  readonly note?: string | undefined;
  readonly tone?: string;
  /** The rule that the figure comes from. */
  readonly rule?: RuleName;
}) {
  return (
    <div class="figure">
      <dt>
        {name}
        {rule !== undefined && <Rule name={rule} />}
      </dt>
      <dd class={tone}>{children}</dd>
      {note !== undefined && <dd class="note">{note}</dd>}
    </div>
  );
}
