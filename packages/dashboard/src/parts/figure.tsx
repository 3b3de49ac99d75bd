import type { ComponentChildren } from 'preact';
import { Rule } from '../why/rule.tsx';
import type { RuleName } from '../why/rule-pages.ts';
import { Term } from '../why/term.tsx';
import type { TermName } from '../why/terms.ts';

/** A figure with its name; a list of them is a `<dl class="figures">`. */
export function Figure({
  name,
  children,
  note,
  tone = '',
  rule,
  term,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
  readonly note?: string | undefined;
  readonly tone?: string;
  /** The rule that the figure comes from. */
  readonly rule?: RuleName;
  /** The explanation of the name. */
  readonly term?: TermName;
}) {
  return (
    <div class="figure">
      <dt>
        {term === undefined ? name : <Term name={term}>{name}</Term>}
        {rule !== undefined && <Rule name={rule} />}
      </dt>
      <dd class={tone}>{children}</dd>
      {note !== undefined && <dd class="note">{note}</dd>}
    </div>
  );
}
