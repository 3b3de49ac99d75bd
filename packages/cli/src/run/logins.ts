/** Account numbers and tokens with which the command of a run logs in at the brokers that `sandpit run` serves. */
import type { ServedBroker } from './served-brokers.js';

export interface Login {
  readonly accountNumber?: string;
  /** The text that stands for the account in paths. */
  readonly accountHash?: string;
  readonly refreshToken?: string;
}

interface KeyPair {
  readonly keyId: string;
  readonly secretKey: string;
}

interface TradierProfile {
  readonly profile: { readonly account: TradierAccount | readonly TradierAccount[] };
}
interface TradierAccount {
  readonly account_number: string;
}
interface SchwabAccount {
  readonly accountNumber: string;
  readonly hashValue: string;
}

/** Asks the dialects whose clients are told more than a key. The pair opens the one portfolio. */
export async function loginsOf(
  url: string,
  pair: KeyPair,
  brokers: readonly ServedBroker[],
): Promise<ReadonlyMap<string, Login>> {
  const logins = new Map<string, Login>();
  for (const { name, prefix } of brokers) {
    const ask = LOGINS[name];
    const login = ask === undefined ? undefined : await ask(url + prefix, pair);
    if (login !== undefined) logins.set(name, login);
  }
  return logins;
}

/** A server may serve fewer dialects than are installed here: there is no login then. */
const LOGINS: Readonly<Partial<Record<string, (url: string, pair: KeyPair) => Promise<Login | undefined>>>> =
  {
    tradier: async (url, pair) => {
      const reply = await fetch(`${url}/v1/user/profile`, {
        headers: { authorization: bearerOf(pair), accept: 'application/json' },
      });
      if (!reply.ok) return undefined;
      const [account] = [((await reply.json()) as TradierProfile).profile.account].flat();
      return account && { accountNumber: account.account_number };
    },
    schwab: async (url, pair) => {
      const reply = await fetch(`${url}/trader/v1/accounts/accountNumbers`, {
        headers: { authorization: bearerOf(pair) },
      });
      if (!reply.ok) return undefined;
      const [account] = (await reply.json()) as readonly SchwabAccount[];
      const refreshToken = await schwabRefreshToken(url, pair);
      return {
        ...(account !== undefined && {
          accountNumber: account.accountNumber,
          accountHash: account.hashValue,
        }),
        ...(refreshToken !== undefined && { refreshToken }),
      };
    },
  };

const bearerOf = ({ keyId, secretKey }: KeyPair): string => `Bearer ${keyId}.${secretKey}`;

const CALLBACK = 'https://127.0.0.1';

/** The refresh token of a login, as after the click of a person. */
async function schwabRefreshToken(url: string, { keyId, secretKey }: KeyPair): Promise<string | undefined> {
  const query = new URLSearchParams({ client_id: keyId, redirect_uri: CALLBACK });
  const clicked = await fetch(`${url}/v1/oauth/authorize?${query.toString()}`, {
    method: 'POST',
    redirect: 'manual',
  });
  const code = new URL(clicked.headers.get('location') ?? CALLBACK).searchParams.get('code') ?? '';
  const reply = await fetch(`${url}/v1/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${keyId}:${secretKey}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK }),
  });
  return reply.ok ? ((await reply.json()) as { readonly refresh_token: string }).refresh_token : undefined;
}
