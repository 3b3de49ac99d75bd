/** Invitations (D258): links by which people without an account join, each as a tenant of their own, and the roster of those who did. */
import type { Static } from 'typebox';
import { displayNameText, reportDisplayName } from './competitions.js';
import { tiers } from './enums.js';
import {
  anyText,
  choice,
  closed,
  count,
  exactly,
  instant,
  integer,
  nameText,
  number,
  optional,
  parameters,
  text,
  uuid,
} from './fields.js';
import { fixtureNames } from './fixtures.js';
import { pageFields, paged } from './paging.js';
import { portfolioToOpen, reportPortfolio } from './portfolios.js';
import { ruled } from './rules.js';
import { CreateSimulationBody } from './simulations.js';

/** Most members that an invitation may allow; the tenant has its own limit. */
const MOST_CAPACITY = 100_000;
const LONGEST_NAME = 80;

const { accountId: _, ...portfolioOfMember } = portfolioToOpen;

/** The portfolio of each member. */
export const InvitedPortfolio = ruled(
  closed('InvitedPortfolio', {
    accountId: optional(
      uuid({ description: 'Id of the account of each member; absent = the service chooses.' }),
    ),
    ...portfolioOfMember,
  }),
  reportPortfolio,
);
export type InvitedPortfolio = Static<typeof InvitedPortfolio>;

const terms = {
  name: nameText({
    maxLength: LONGEST_NAME,
    description: 'Title shown on the join page.',
    examples: ['Finance 101'],
  }),
  tier: optional(
    choice(tiers, {
      description: 'Tier of the members, at most that of the token; absent = that of the token.',
    }),
  ),
  portfolio: optional(InvitedPortfolio),
  simulation: optional(CreateSimulationBody),
  fixture: optional(
    choice([...fixtureNames], {
      description:
        'Fixture for the simulation of each member, which has synthetic quotes and a manual clock.',
    }),
  ),
  competitionId: optional(
    uuid({ description: 'Competition of the tenant in which each member gets an entry.' }),
  ),
  expiresAt: optional(instant({ description: 'Real time at which the link ends; absent = never.' })),
};

export const InvitationBody = ruled(
  closed(
    'InvitationBody',
    {
      ...terms,
      capacity: optional(integer(1, MOST_CAPACITY, { description: 'Maximum members; absent = 100.' })),
    },
    {
      examples: [
        {
          name: 'Finance 101',
          portfolio: { portfolioType: 'MARGIN', accountType: 'INDIVIDUAL', brokerId: 'default' },
          capacity: 30,
        },
      ],
    },
  ),
  (body, report) => {
    if (body.simulation !== undefined && body.fixture !== undefined)
      report.field('fixture', 'should not exist with simulation');
    if (body.competitionId === undefined) return;
    for (const field of ['portfolio', 'simulation', 'fixture'] as const)
      if (body[field] !== undefined) report.field(field, 'should not exist with competitionId');
  },
);
export type InvitationBody = Static<typeof InvitationBody>;

const statuses = ['OPEN', 'FULL', 'EXPIRED', 'DELETED'] as const;

export const Invitation = closed('Invitation', {
  invitationId: uuid(),
  url: anyText({ description: 'Link to the join page, a form with a name.' }),
  code: anyText({ description: 'The last part of the link: 26 letters and digits.' }),
  ...terms,
  tier: choice(tiers),
  capacity: count(),
  members: count({ description: 'Number of members, without deleted ones.' }),
  status: choice(statuses, {
    description: 'Only an OPEN one can be joined. A DELETED one is listed on request while it has members.',
  }),
  createdAt: instant({ description: 'Wall-clock time.' }),
});
export type Invitation = Static<typeof Invitation>;

export const InvitationPage = paged('InvitationPage', Invitation, 'Invitations of the tenant, newest first.');
export type InvitationPage = Static<typeof InvitationPage>;

export const InvitationQuery = parameters({
  ...pageFields,
  status: optional(
    choice(statuses, {
      description: 'Only invitations with this status; absent = all but the deleted ones.',
    }),
  ),
});
export type InvitationQuery = Static<typeof InvitationQuery>;

export const InvitationParams = parameters({
  invitationId: uuid({ description: 'The invitation.' }),
});
export const MemberParams = parameters({
  invitationId: uuid({ description: 'The invitation.' }),
  memberId: uuid({ description: 'The member.' }),
});

export const DeletedInvitation = closed('DeletedInvitation', { invitationId: uuid(), message: anyText() });
export type DeletedInvitation = Static<typeof DeletedInvitation>;

const code = (description: string) => text({ maxLength: 64, description });

export const JoinBody = ruled(
  closed(
    'JoinBody',
    {
      code: code('The last part of the link of an invitation.'),
      displayName: displayNameText(
        'Name on the roster: 1 to 40 visible characters, at least one a letter or a digit. In a competition it is unique.',
      ),
    },
    { examples: [{ code: '7hq2m9x4kd6wv3tnpz8rbcjf5y', displayName: 'Ada Lovelace' }] },
  ),
  reportDisplayName,
);
export type JoinBody = Static<typeof JoinBody>;

const access = {
  token: anyText({ description: 'A JWT of the member, valid for 30 days.' }),
  tenantId: anyText({ description: 'Tenant of the member.' }),
  accountId: uuid(),
  portfolioId: uuid(),
  simulationId: optional(anyText({ description: 'Simulation of the token; absent = `main`.' })),
  entryId: optional(uuid({ description: 'Entry of the competition.' })),
};

export const JoinedMember = closed('JoinedMember', {
  ...access,
  returnUrl: anyText({
    description:
      'Link with which the member logs in again, in any browser; shown once, and valid until it is replaced or the member is deleted.',
  }),
});
export type JoinedMember = Static<typeof JoinedMember>;

export const ReturnBody = closed('ReturnBody', { code: code('The last part of a member’s `returnUrl`.') });
export type ReturnBody = Static<typeof ReturnBody>;

export const ReturnedMember = closed('ReturnedMember', access);
export type ReturnedMember = Static<typeof ReturnedMember>;

export const Member = closed('Member', {
  memberId: uuid(),
  displayName: anyText(),
  tenantId: anyText(),
  portfolioId: uuid(),
  equity: optional(
    number({ description: 'Total equity of the portfolio, dollars; absent while it cannot be valued.' }),
  ),
  return: optional(
    number({
      description: 'Time-weighted return of the portfolio, a fraction; absent where there is none.',
    }),
  ),
  orders: optional(
    count({ description: 'Orders of the portfolio that were accepted; absent while they cannot be read.' }),
  ),
  joinedAt: instant({ description: 'Wall-clock time.' }),
  lastSeenAt: instant({ description: 'Real time of the last request with a token of the member.' }),
});
export type Member = Static<typeof Member>;

export const MemberPage = paged('MemberPage', Member, 'Members of the invitation, oldest first.');
export type MemberPage = Static<typeof MemberPage>;

export const MemberToken = closed('MemberToken', {
  memberId: uuid(),
  tenantId: anyText({ description: 'Tenant of the member.' }),
  portfolioId: uuid(),
  simulationId: optional(anyText({ description: 'Simulation of the token; absent = `main`.' })),
  token: anyText({ description: 'A JWT of the member, of scope `read`.' }),
  tokenType: exactly('Bearer'),
  expiresIn: count({ description: 'Seconds, at most 3,600.' }),
  expiresAt: instant(),
});
export type MemberToken = Static<typeof MemberToken>;

export const MemberLink = closed('MemberLink', {
  memberId: uuid(),
  returnUrl: anyText({ description: 'Link with which the member logs in again; shown once.' }),
});
export type MemberLink = Static<typeof MemberLink>;

export const DeletedMember = closed('DeletedMember', { memberId: uuid(), message: anyText() });
export type DeletedMember = Static<typeof DeletedMember>;
