/** Creating a competition, and editing one before it starts. */
import type { Competition } from '@sandpit/protocol';
import { useLoad } from '../load.ts';
import { Empty, Problem } from '../parts/notice.tsx';
import { go, hrefOf } from '../route.ts';
import { keepToken, MAIN } from '../session.ts';
import { CompetitionForm } from './competition-form.tsx';
import { type Member, read } from './member.ts';
import { bodyOf, changesOf, NEW, typedOf } from './typed-competition.ts';

const placeOf = (competitionId: string): string => hrefOf(MAIN, `competitions/${competitionId}`);

export function NewCompetition({ member }: { readonly member: Member | undefined }) {
  if (member?.may('simulate') !== true)
    return <Empty>Creating a competition requires a token with the scope simulate.</Empty>;
  return (
    <CompetitionForm
      label="New competition"
      action="Create competition"
      initial={NEW}
      member={member}
      onSubmit={async (typed) => {
        const { competitionId, token } = await member.client.call('createCompetition', {
          body: bodyOf(typed),
        });
        keepToken(token);
        go(placeOf(competitionId));
      }}
    />
  );
}

export function EditCompetition({
  competitionId,
  member,
}: {
  readonly competitionId: string;
  readonly member: Member | undefined;
}) {
  const found = useLoad(
    () => read<Competition>(`/competitions/${competitionId}`, member?.token),
    [competitionId, member?.token],
  );
  const { value: competition, error } = found;
  if (error !== undefined) return <Problem error={error} retry={found.reload} />;
  if (competition === undefined) return <p class="waiting">Loading …</p>;
  if (member?.may('simulate') !== true || !competition.isOrganizer)
    return <Empty>Only its organizer edits a competition, with a token of the scope simulate.</Empty>;
  if (competition.status !== 'OPEN') return <Empty>A competition can be edited until trading starts.</Empty>;
  return (
    <CompetitionForm
      label="Edit competition"
      action="Save changes"
      initial={typedOf(competition)}
      member={member}
      isFixed={competition.entries > 0}
      onSubmit={async (typed) => {
        await member.client.call('updateCompetition', {
          params: { competitionId },
          body: changesOf(competition, typed),
        });
        go(placeOf(competitionId));
      }}
    >
      <a class="button" href={placeOf(competitionId)}>
        Discard changes
      </a>
    </CompetitionForm>
  );
}
