import type { InvitationBody } from '@sandpit/protocol';
import type { Command } from 'commander';
import { numberOf } from './numbers.js';
import { type Output, printFields, printRows } from './output.js';
import type { Client } from './portfolios.js';
import { jsonFile } from './rule-commands.js';

const INVITATIONS = ['invitationId', 'name', 'status', 'members', 'capacity', 'url'];
const MEMBERS = ['memberId', 'displayName', 'tenantId', 'equity', 'return', 'orders', 'lastSeenAt'];

interface NewOptions {
  readonly capacity?: number;
  readonly expires?: string;
  readonly competition?: string;
  readonly fixture?: InvitationBody['fixture'];
  readonly file?: string;
}

export function addInvitations(program: Command, client: Client, out: Output): void {
  const invitations = program
    .command('invite')
    .description('Invite a class or a team by a link, and see its roster.');
  invitations
    .command('list', { isDefault: true })
    .alias('ls')
    .description('List your invitations, newest first.')
    .action(async () => {
      const rows = [];
      for await (const one of (await client()).list('listInvitations')) rows.push(one);
      printRows(out, rows, INVITATIONS);
    });
  invitations
    .command('new <name>')
    .description('Create an invitation and print its link.')
    .option('--capacity <members>', 'most members (default: 100)', numberOf)
    .option('--expires <instant>', 'time at which the link ends, such as 2026-12-31T23:59:59Z')
    .option('--competition <competitionId>', 'each member gets an entry of this competition')
    .option('--fixture <name>', 'each member gets a simulation filled with this book')
    .option('--file <file>', 'further fields of the body of `POST /v1/invitations`, as JSON')
    .action(async (name: string, { capacity, expires, competition, fixture, file }: NewOptions) => {
      const body: InvitationBody = {
        ...(file !== undefined && (jsonFile(file) as Partial<InvitationBody>)),
        name,
        ...(capacity !== undefined && { capacity }),
        ...(expires !== undefined && { expiresAt: expires }),
        ...(competition !== undefined && { competitionId: competition }),
        ...(fixture !== undefined && { fixture }),
      };
      printFields(out, await (await client()).call('createInvitation', { body }));
    });
  invitations
    .command('delete <invitationId>')
    .alias('rm')
    .description('End the link of an invitation; its members stay.')
    .action(async (invitationId: string) => {
      printFields(out, await (await client()).call('deleteInvitation', { params: { invitationId } }));
    });
  invitations
    .command('members <invitationId>')
    .description('Print the roster of an invitation.')
    .action(async (invitationId: string) => {
      const rows = [];
      for await (const one of (await client()).list('listMembers', { params: { invitationId } }))
        rows.push(one);
      printRows(out, rows, MEMBERS);
    });
  for (const [name, operation, description] of [
    ['view', 'createMemberToken', 'Print a token that reads what a member sees, for an hour.'],
    ['link', 'createMemberLink', 'Replace the link with which a member logs in.'],
    ['reset', 'resetMember', 'Reset the portfolio of a member.'],
    ['remove', 'deleteMember', 'Delete a member with everything it has.'],
  ] as const)
    invitations
      .command(`${name} <invitationId> <memberId>`)
      .description(description)
      .action(async (invitationId: string, memberId: string) => {
        const params = { invitationId, memberId };
        printFields(out, await (await client()).call(operation, { params }));
      });
}
