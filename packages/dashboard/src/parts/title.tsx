import { Term } from '../why/term.tsx';
import type { TermName } from '../why/terms.ts';

/** The title of a column, with its explanation if there is one. */
export const Title = ({
  column: { title, term },
}: {
  readonly column: { readonly title: string; readonly term?: TermName | undefined };
}) => (term === undefined ? <>{title}</> : <Term name={term}>{title}</Term>);
