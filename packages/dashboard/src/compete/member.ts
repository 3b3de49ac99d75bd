/** Reads of competitions with or without a token, and the client for members. */
import type { Scope } from '@sandpit/protocol';
import { useMemo } from 'preact/hooks';
import { notedFetch } from '../requests.ts';
import { PageClient } from '../sent-once.ts';
import { claimsOf } from '../session.ts';

/** Reads a path below `/v1`, with the token of the page, if there is one. */
export async function read<Answer>(path: string, token: string | undefined, method = 'GET'): Promise<Answer> {
  const response = await fetch(`/v1${path}`, {
    method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  const answer = (await response.json()) as Answer & { readonly message?: string | readonly string[] };
  if (!response.ok)
    throw new Error(
      response.status === 404 || response.status === 401
        ? 'This competition does not exist or is not public.'
        : String(answer.message ?? response.status),
    );
  return answer;
}

/** A participant or organizer: the client with the token of the page. */
export interface Member {
  readonly token: string;
  readonly client: PageClient;
  readonly may: (scope: Scope) => boolean;
}

/** Undefined for a visitor. */
export function useMember(token: string | undefined): Member | undefined {
  return useMemo(() => {
    const claims = token === undefined ? undefined : claimsOf(token);
    return token === undefined || claims === undefined
      ? undefined
      : {
          token,
          client: new PageClient({ url: location.origin, token }, { fetch: notedFetch, retryForMs: 2000 }),
          may: (scope) => claims.scopes.has(scope),
        };
  }, [token]);
}
