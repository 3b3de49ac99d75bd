/** The organizer's actions: start, pause, finish, cancel; the join code, the link, and the export. */
import type { Competition } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { errorFrom } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { Refusal } from '../parts/notice.tsx';
import { saveAs } from '../parts/save-as.ts';
import { go, hrefOf } from '../route.ts';
import { keepToken, MAIN, tokenFor } from '../session.ts';
import type { Member } from './member.ts';

export function ManageCompetition({
  competition,
  member,
  onChanged,
}: {
  readonly competition: Competition;
  readonly member: Member;
  readonly onChanged: () => void;
}) {
  const { competitionId, status, paused, market, simulationId, joinCode } = competition;
  const [error, setError] = useState<Error>();
  const [isBusy, setIsBusy] = useState(false);
  const params = { competitionId };
  const { client } = member;
  const act = (done: () => Promise<unknown>, question?: string): void => {
    if (question !== undefined && !confirm(question)) return;
    setError(undefined);
    setIsBusy(true);
    done()
      .then(onChanged, (reason: unknown) => setError(errorFrom(reason)))
      .finally(() => setIsBusy(false));
  };
  const isOver = status === 'FINISHED' || status === 'CANCELED';
  const openMarket = async (id: string): Promise<void> => {
    if (tokenFor(id) === undefined)
      keepToken((await client.call('createSimulationToken', { params: { simulationId: id } })).token);
    go(hrefOf(id, 'time'));
  };
  const remove = async (): Promise<void> => {
    await client.call('cancelCompetition', { params });
    if (isOver) go(hrefOf(MAIN, 'competitions'));
  };
  return (
    <section class="panel" aria-label="Organize" data-once>
      <div class="row">
        {(status === 'OPEN' || (status === 'RUNNING' && paused)) && (
          <button
            type="button"
            class="primary"
            disabled={isBusy}
            onClick={() => act(() => client.call('startCompetition', { params }))}
          >
            {paused ? 'Resume' : 'Start'}
          </button>
        )}
        {status === 'OPEN' && (
          <a class="button" href={hrefOf(MAIN, `competitions/${competitionId}/edit`)}>
            Edit
          </a>
        )}
        {status === 'RUNNING' && !paused && market.clock !== 'wall' && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => act(() => client.call('pauseCompetition', { params }))}
          >
            Pause
          </button>
        )}
        {status === 'RUNNING' && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() =>
              act(
                () => client.call('finishCompetition', { params }),
                'Finish now? Open orders are canceled, positions are marked, and the result is final.',
              )
            }
          >
            Finish
          </button>
        )}
        {simulationId !== undefined && !isOver && (
          <button type="button" disabled={isBusy} onClick={() => act(() => openMarket(simulationId))}>
            Open the market
          </button>
        )}
        {status === 'FINISHED' && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => act(() => saveExport(competitionId, member.token))}
          >
            Save the export
          </button>
        )}
        {!isOver && member.may('admin') && (
          <a class="button" href={hrefOf(MAIN, 'invitations', { competition: competitionId })}>
            Invite
          </a>
        )}
        <Copy name="Copy link" text={location.href} />
        {joinCode !== undefined && <Copy name={`Join code ${joinCode}`} text={joinCode} />}
        <button
          type="button"
          class="danger"
          disabled={isBusy}
          onClick={() =>
            act(
              remove,
              isOver
                ? 'Delete the competition with the simulations of its entries?'
                : 'Cancel the competition? There will be no result.',
            )
          }
        >
          {isOver ? 'Delete' : 'Cancel competition'}
        </button>
      </div>
      {error !== undefined && <Refusal error={error} />}
    </section>
  );
}

async function saveExport(competitionId: string, token: string): Promise<void> {
  const response = await fetch(`/v1/competitions/${competitionId}/export`, {
    headers: { authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new Error(`The export failed with status ${response.status}.`);
  saveAs('competition.ndjson', await response.blob());
}
