/** Invitations of an instructor: links, and the roster of those who joined. */
import type { Invitation, Member } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment, money, percentChange, quantity, tone, words } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import type { Column } from '../parts/column.ts';
import { Copy } from '../parts/copy.tsx';
import { Download } from '../parts/download.tsx';
import { Empty, Problem, Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { type DashboardRoute, hrefOf } from '../route.ts';
import { MAIN, viewInNewTab } from '../session.ts';
import { announce } from '../ui/toaster.tsx';
import { NewInvitation } from './new-invitation.tsx';

const AGAIN_MS = 5000;
/** Rows of a roster on the page; the file has all of them. */
const MOST_SHOWN = 500;

export function InvitationsPage({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const invitationId = place.path[1] ?? '';
  if (!broker.may('admin') || broker.simulationId !== MAIN)
    return (
      <>
        <h1>Invitations</h1>
        <Empty>
          {broker.may('admin') ? (
            <p>
              Invitations are managed from the main simulation.{' '}
              <a href={hrefOf(MAIN, 'invitations')}>Go to main simulation</a>
            </p>
          ) : (
            <p>This token may not invite: it lacks the scope admin.</p>
          )}
        </Empty>
      </>
    );
  return invitationId === '' ? (
    <List competitionId={place.query.get('competition') ?? ''} />
  ) : (
    <Roster key={invitationId} invitationId={invitationId} />
  );
}

/** The address of an invitation, as people reach this page. */
const linkOf = ({ code }: Invitation): string => `${location.origin}/join/${code}`;

function List({ competitionId }: { readonly competitionId: string }) {
  const broker = useBroker();
  const list = useLoad(() => broker.call('listInvitations', { query: { limit: 200 } }), []);
  const [created, setCreated] = useState<Invitation>();
  const [error, setError] = useState<Error>();
  useEvery(AGAIN_MS, list.reload);
  const remove = ({ invitationId, name }: Invitation): void => {
    if (!confirm(`End the link of ${name}? Its members stay.`)) return;
    setError(undefined);
    setCreated(undefined);
    broker
      .call('deleteInvitation', { params: { invitationId } })
      .then(list.reload, (reason: unknown) => setError(errorFrom(reason)));
  };
  const rows = list.value?.data;
  return (
    <>
      <div class="heading">
        <h1>Invitations</h1>
      </div>
      {created !== undefined && (
        <div class="notice" role="status">
          <p>
            Send this link to those who should join <strong>{created.name}</strong>:
          </p>
          <p>
            <code class="breaking">{linkOf(created)}</code>
          </p>
          <Copy name="Copy the link" of={`of ${created.name}`} text={linkOf(created)} />
        </div>
      )}
      <NewInvitation
        competitionId={competitionId}
        onCreated={(invitation) => {
          setCreated(invitation);
          list.reload();
        }}
      />
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {error !== undefined && <Refusal error={error} />}
      {rows?.length === 0 && (
        <Empty>
          <p>
            There is no invitation yet. An invitation is one link for a class or a team: each person types a
            name and gets a portfolio, and the roster here shows how all of them are doing.
          </p>
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <Table
          label="Invitations"
          rows={rows}
          keyOf={({ invitationId }) => invitationId}
          columns={columnsOf(remove)}
        />
      )}
    </>
  );
}

const columnsOf = (remove: (invitation: Invitation) => void): readonly Column<Invitation>[] => [
  {
    title: 'Name',
    isLong: true,
    cell: ({ invitationId, name }) => <a href={hrefOf(MAIN, `invitations/${invitationId}`)}>{name}</a>,
  },
  { title: 'Status', isWide: true, cell: ({ status }) => words(status) },
  {
    title: 'Members',
    isNumber: true,
    cell: ({ members, capacity }) => `${quantity(members)} of ${quantity(capacity)}`,
  },
  { title: 'Gets', isSecondary: true, cell: placeText },
  {
    title: 'Link ends',
    isSecondary: true,
    cell: ({ expiresAt }) => (expiresAt === undefined ? 'Never' : moment(expiresAt)),
  },
  {
    title: 'Actions',
    cell: (invitation) => (
      <span class="inline">
        <Copy name="Copy link" of={`of ${invitation.name}`} text={linkOf(invitation)} />
        <button
          type="button"
          class="small danger"
          aria-label={`Delete ${invitation.name}`}
          onClick={() => remove(invitation)}
        >
          Delete
        </button>
      </span>
    ),
  },
];

function placeText({ competitionId, simulation, fixture }: Invitation): string {
  if (competitionId !== undefined) return 'Competition entry';
  if (fixture !== undefined) return `Simulation: ${fixture}`;
  return simulation === undefined ? 'Portfolio in main' : 'Simulation';
}

function Roster({ invitationId }: { readonly invitationId: string }) {
  const broker = useBroker();
  const params = { invitationId };
  const [link, setLink] = useState<{ readonly of: string; readonly url: string }>();
  const [error, setError] = useState<Error>();
  const invitation = useLoad(async () => {
    const { data } = await broker.call('listInvitations', { query: { limit: 200 } });
    return data.find((one) => one.invitationId === invitationId);
  }, [invitationId]);
  const members = useLoad(
    () => broker.call('listMembers', { params, query: { limit: MOST_SHOWN } }),
    [invitationId],
  );
  useEvery(AGAIN_MS, members.reload);
  const after = (done: Promise<unknown>): void => {
    setError(undefined);
    done.then(members.reload, (reason: unknown) => setError(errorFrom(reason)));
  };
  const view = (member: Member): void => {
    // In the click: a tab that opens later is a popup.
    const open = viewInNewTab();
    const { memberId } = member;
    after(
      broker.call('createMemberToken', { params: { ...params, memberId } }).then(
        ({ token, simulationId = MAIN, portfolioId }) =>
          open(token, hrefOf(simulationId, `portfolio/${portfolioId}`)),
        (reason: unknown) => {
          open();
          throw reason;
        },
      ),
    );
  };
  const renew = ({ memberId, displayName }: Member): void => {
    if (!confirm(`Create a new link for ${displayName}? The old one ends, with the sessions that it opened.`))
      return;
    after(
      broker.call('createMemberLink', { params: { ...params, memberId } }).then(({ returnUrl }) =>
        setLink({
          of: displayName,
          url: `${location.origin}${new URL(returnUrl, location.origin).pathname}`,
        }),
      ),
    );
  };
  const reset = ({ memberId, displayName }: Member): void => {
    if (!confirm(`Reset the portfolio of ${displayName}? Positions are closed and orders canceled.`)) return;
    after(
      broker
        .call('resetMember', { params: { ...params, memberId } })
        .then(() => announce(`Reset ${displayName}`, 'The portfolio has its initial cash.', 'success')),
    );
  };
  const remove = ({ memberId, displayName }: Member): void => {
    if (!confirm(`Delete ${displayName} with all orders and records? This cannot be undone.`)) return;
    after(broker.call('deleteMember', { params: { ...params, memberId } }));
  };
  const rows = members.value?.data;
  const total = members.value?.pagination.total ?? 0;
  const competitionId = invitation.value?.competitionId;
  const isOfCompetition = competitionId !== undefined;
  return (
    <>
      <div class="heading">
        <h1>{invitation.value?.name ?? 'Roster'}</h1>
        {invitation.value?.status === 'OPEN' && (
          <Copy name="Copy link" of={`of ${invitation.value.name}`} text={linkOf(invitation.value)} />
        )}
        {isOfCompetition && <a href={hrefOf(MAIN, `competitions/${competitionId}`)}>Leaderboard</a>}
        <Download name="roster.csv" list="listMembers" given={{ params }} />
        <a href={hrefOf(MAIN, 'invitations')}>All invitations</a>
      </div>
      {members.error !== undefined && <Problem error={members.error} retry={members.reload} />}
      {error !== undefined && <Refusal error={error} />}
      {link !== undefined && (
        <div class="notice" role="status">
          <p>
            New link for <strong>{link.of}</strong>, shown only now:
          </p>
          <p>
            <code class="breaking">{link.url}</code>
          </p>
          <Copy name="Copy the link" of={`for ${link.of}`} text={link.url} />
        </div>
      )}
      {rows?.length === 0 && <Empty>The roster is empty. It fills as people join by the link.</Empty>}
      {rows !== undefined && rows.length > 0 && (
        <>
          <p class="dim">
            {quantity(total)} {total === 1 ? 'member' : 'members'}
            {total > rows.length && `, the first ${quantity(rows.length)} shown`}
          </p>
          <Table
            label="Roster"
            rows={rows}
            keyOf={({ memberId }) => memberId}
            columns={rosterColumns({ view, renew, reset, remove, isOfCompetition })}
          />
        </>
      )}
    </>
  );
}

interface MemberActions {
  readonly view: (member: Member) => void;
  readonly renew: (member: Member) => void;
  readonly reset: (member: Member) => void;
  readonly remove: (member: Member) => void;
  readonly isOfCompetition: boolean;
}

const rosterColumns = ({
  view,
  renew,
  reset,
  remove,
  isOfCompetition,
}: MemberActions): readonly Column<Member>[] => {
  const action = (name: string, act: (member: Member) => void, style = 'small') => {
    const Action = (member: Member) => (
      <button
        type="button"
        class={style}
        aria-label={`${name} ${member.displayName}`}
        onClick={() => act(member)}
      >
        {name}
      </button>
    );
    return Action;
  };
  const [View, Link, Reset, Delete] = [
    action('View', view),
    action('New link', renew),
    action('Reset', reset),
    action('Delete', remove, 'small danger'),
  ] as const;
  return [
    { title: 'Name', isLong: true, cell: ({ displayName }) => displayName },
    {
      title: 'Equity',
      isNumber: true,
      cell: ({ equity }) => (equity === undefined ? '–' : money(equity)),
    },
    {
      title: 'Return',
      isNumber: true,
      cell: ({ return: growth }) =>
        growth === undefined ? '–' : <span class={tone(growth)}>{percentChange(growth)}</span>,
    },
    {
      title: 'Orders',
      isNumber: true,
      isWide: true,
      cell: ({ orders }) => (orders === undefined ? '–' : quantity(orders)),
    },
    {
      title: 'Last seen',
      isSecondary: true,
      cell: ({ joinedAt, lastSeenAt }) => (
        <span title={`Joined ${moment(joinedAt)}`}>{moment(lastSeenAt)}</span>
      ),
    },
    {
      title: 'Actions',
      cell: (member) => (
        <span class="inline">
          {View(member)}
          {Link(member)}
          {!isOfCompetition && Reset(member)}
          {Delete(member)}
        </span>
      ),
    },
  ];
};
