/** The form of a new invitation. */
import type { FixtureBody, Invitation, InvitationBody } from '@sandpit/protocol';
import { useRef, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { numberTyped } from '../format.ts';
import { errorFrom, useLoad } from '../load.ts';
import { Field, isValid, NumberField, Select } from '../parts/field.tsx';
import { Refusal } from '../parts/notice.tsx';

const PLACES = [
  ['main', 'A portfolio in the main market'],
  ['simulation', 'A simulation with a clock of their own'],
  ['fixture', 'A simulation filled with a book'],
  ['competition', 'An entry of a competition'],
] as const;

const DAY_MS = 86_400_000;
const ENDS = [
  ['', 'Never'],
  ['1', 'In a day'],
  ['7', 'In a week'],
  ['30', 'In 30 days'],
  ['120', 'In 120 days'],
] as const;

const KINDS = [
  ['CASH', 'Cash'],
  ['MARGIN', 'Margin, Reg T'],
] as const;

export function NewInvitation({
  competitionId: asked,
  onCreated,
}: {
  /** A competition that the page was opened for; empty = none. */
  readonly competitionId: string;
  readonly onCreated: (invitation: Invitation) => void;
}) {
  const broker = useBroker();
  const choices = useLoad(async () => {
    const [competitions, fixtures, brokers] = await Promise.all([
      broker.call('listCompetitions', { query: { limit: 200 } }),
      broker.call('listFixtures'),
      broker.call('listBrokers'),
    ]);
    const open = competitions.data.filter(
      ({ isOrganizer, status }) => isOrganizer && (status === 'OPEN' || status === 'RUNNING'),
    );
    return { competitions: open, fixtures: fixtures.data, brokers: brokers.data };
  }, []);
  const form = useRef<HTMLFormElement>(null);
  const [name, setName] = useState('');
  const [place, setPlace] = useState<string>(asked === '' ? 'main' : 'competition');
  const [kind, setKind] = useState<string>('MARGIN');
  const [cash, setCash] = useState('');
  const [brokerId, setBrokerId] = useState('default');
  const [fixture, setFixture] = useState('');
  const [competitionId, setCompetitionId] = useState(asked);
  const [capacity, setCapacity] = useState('');
  const [days, setDays] = useState('');
  const [error, setError] = useState<Error>();
  const { competitions = [], fixtures = [], brokers = [] } = choices.value ?? {};
  const [isTried, setIsTried] = useState(false);
  const submit = (event: Event): void => {
    event.preventDefault();
    setIsTried(true);
    if (name.trim() === '') {
      form.current?.querySelector('input')?.focus();
      return;
    }
    if (!isValid(event)) return;
    setError(undefined);
    const initialCash = numberTyped(cash);
    const most = numberTyped(capacity);
    const portfolio: InvitationBody['portfolio'] = {
      portfolioType: kind as 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId,
      ...(kind === 'MARGIN' && { marginType: 'REG_T' }),
      ...(initialCash !== undefined && { initialCash }),
    };
    const body: InvitationBody = {
      name: name.trim(),
      ...(most !== undefined && { capacity: most }),
      ...(days !== '' && { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
      ...((place === 'main' || place === 'simulation') && { portfolio }),
      ...(place === 'simulation' && { simulation: { feed: 'synthetic', clock: 'manual', calendar: 'XNYS' } }),
      ...(place === 'fixture' && { fixture: (fixture || fixtures[0]?.name) as FixtureBody['name'] }),
      ...(place === 'competition' && {
        competitionId: competitionId || competitions[0]?.competitionId || '',
      }),
    };
    broker.call('createInvitation', { body }).then(
      (invitation) => {
        setName('');
        setIsTried(false);
        onCreated(invitation);
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  const offered = PLACES.filter(([value]) => value !== 'competition' || competitions.length > 0);
  return (
    <form ref={form} class="panel" onSubmit={submit} aria-label="New invitation">
      <div class="grid">
        <Field
          name="Name"
          value={name}
          onChange={setName}
          placeholder="Finance 101"
          problem={isTried && name.trim() === '' ? 'Enter a name, such as that of the class.' : undefined}
        />
        <Select name="Each member gets" plain isDouble value={place} options={offered} onChange={setPlace} />
        {place === 'competition' && (
          <Select
            name="Competition"
            plain
            value={competitionId}
            options={competitions.map((one) => [one.competitionId, one.name] as const)}
            onChange={setCompetitionId}
          />
        )}
        {place === 'fixture' && (
          <Select
            name="Book"
            plain
            value={fixture}
            options={fixtures.map((one) => [one.name, one.name] as const)}
            onChange={setFixture}
          />
        )}
        {(place === 'main' || place === 'simulation') && (
          <>
            <Select name="Kind" plain value={kind} options={KINDS} onChange={setKind} />
            <NumberField name="Cash" value={cash} onChange={setCash} placeholder="server default" />
            <Select
              name="Broker"
              plain
              value={brokerId}
              options={brokers.map((one) => [one.brokerId, one.name] as const)}
              onChange={setBrokerId}
            />
          </>
        )}
        <NumberField name="Most members" value={capacity} onChange={setCapacity} placeholder="100" />
        <Select name="Link ends" plain value={days} options={ENDS} onChange={setDays} />
        <button type="submit" class="primary">
          Create link
        </button>
      </div>
      {error !== undefined && <Refusal error={error} />}
    </form>
  );
}
