/** Entering a competition, and the entries that the user trades. */
import type { Competition, Entry } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { errorFrom } from '../load.ts';
import { Field } from '../parts/field.tsx';
import { Refusal } from '../parts/notice.tsx';
import { go, hrefOf } from '../route.ts';
import { keepToken } from '../session.ts';
import { announce } from '../ui/toaster.tsx';
import type { Member } from './member.ts';

/** The form of a new entry. It leads to the ticket of the entry. */
export function Enter({
  competition: { competitionId, entry, name },
  member,
}: {
  readonly competition: Competition;
  readonly member: Member;
}) {
  const [displayName, setDisplayName] = useState('');
  const [code, setCode] = useState('');
  const [error, setError] = useState<Error>();
  const submit = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    const body = { displayName: displayName.trim(), ...(code.trim() !== '' && { joinCode: code.trim() }) };
    member.client.call('enterCompetition', { params: { competitionId }, body }).then(
      (created) => {
        keepToken(created.token);
        announce(`Entered ${name}`, 'This is the portfolio of the entry.', 'success');
        goTrading(created);
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  return (
    <form class="panel" onSubmit={submit} aria-label="Enter the competition">
      <h2>Enter</h2>
      <div class="grid">
        <Field
          name="Name on the leaderboard"
          value={displayName}
          onChange={setDisplayName}
          placeholder="Momentum Mia"
        />
        {entry === 'CODE' && <Field name="Join code" value={code} onChange={setCode} />}
        <button type="submit" class="primary">
          Enter
        </button>
      </div>
      <p class="why">
        The entry has a portfolio and a token of its own. The token trades that portfolio and reads its
        market; everything else is refused.
      </p>
      {error !== undefined && <Refusal error={error} />}
    </form>
  );
}

/** Opens the trade page of an entry whose token is stored. */
export const goTrading = ({ simulationId, portfolioId }: Pick<Entry, 'simulationId' | 'portfolioId'>): void =>
  go(hrefOf(simulationId, 'trade', { portfolio: portfolioId }));
