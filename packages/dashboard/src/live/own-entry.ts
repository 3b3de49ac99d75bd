/** The competition entry that the token of the page trades, by the server: it is the same in every browser. */
import type { OwnEntry } from '@sandpit/protocol';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Broker } from '../broker.ts';
import { useEvery, useLoad } from '../load.ts';

/** Interval at which rank and status are read. */
const AGAIN_MS = 10_000;

export const OwnEntryContext = createContext<OwnEntry | undefined>(undefined);

/** The entry of the page; undefined if its token is not the token of an entry. */
export const useOwnEntry = (): OwnEntry | undefined => useContext(OwnEntryContext);

/** Reads the entry of a token again and again. */
export function useReadOwnEntry(broker: Broker): OwnEntry | undefined {
  const { isEntry } = broker.claims;
  const { value, reload } = useLoad(
    async () => (isEntry ? await broker.call('getOwnEntry') : undefined),
    [broker.simulationId],
  );
  useEvery(AGAIN_MS, () => {
    if (isEntry) reload();
  });
  return value;
}
