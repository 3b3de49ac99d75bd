/** A change of a portfolio: a form, its effect in words, and a second click to confirm. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { errorFrom } from '../load.ts';
import { isValid } from '../parts/field.tsx';
import { Refusal } from '../parts/notice.tsx';
import { Rule } from '../why/rule.tsx';
import type { RuleName } from '../why/rule-pages.ts';

export function Deed({
  title,
  rule,
  children,
  effects,
  typed = '',
  verb,
  act,
  isDanger = false,
  problem,
}: {
  readonly title: string;
  readonly rule?: RuleName;
  /** The fields. */
  readonly children?: ComponentChildren;
  /** Results of the action, a sentence each. */
  readonly effects: readonly string[];
  /** The values of the fields: a change requires another confirmation. */
  readonly typed?: string;
  readonly verb: string;
  /** Resolves to the confirmation text. */
  readonly act: () => Promise<string>;
  readonly isDanger?: boolean;
  /** Why it cannot be done now; absent = it can. */
  readonly problem?: string | undefined;
}) {
  const [isAsked, setIsAsked] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const [said, setSaid] = useState('');
  const [error, setError] = useState<Error>();
  // A changed form has to be reviewed again; figures that follow the market do not take a confirmation back.
  useEffect(() => setIsAsked(false), [typed]);
  const submit = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    setSaid('');
    if (!isValid(event)) return;
    if (!isAsked) {
      setIsAsked(true);
      return;
    }
    setIsBusy(true);
    act()
      .then(setSaid, (reason: unknown) => setError(errorFrom(reason)))
      .finally(() => {
        setIsBusy(false);
        setIsAsked(false);
      });
  };
  return (
    <form class="panel deed" onSubmit={submit} aria-label={title}>
      <h2>
        {title} {rule !== undefined && <Rule name={rule} />}
      </h2>
      {children !== undefined && <div class="grid">{children}</div>}
      {problem === undefined ? (
        <>
          <ul class="effects">
            {effects.map((effect) => (
              <li key={effect}>{effect}</li>
            ))}
          </ul>
          <div class="row">
            <button type="submit" class={isDanger ? 'danger' : isAsked ? 'primary' : ''} disabled={isBusy}>
              {isAsked ? `Confirm: ${verb.toLowerCase()}` : verb}
            </button>
            {isAsked && (
              <button type="button" class="quiet" onClick={() => setIsAsked(false)}>
                Not now
              </button>
            )}
          </div>
        </>
      ) : (
        <p class="dim">{problem}</p>
      )}
      <p role="status">{said}</p>
      {error !== undefined && <Refusal error={error} />}
    </form>
  );
}
