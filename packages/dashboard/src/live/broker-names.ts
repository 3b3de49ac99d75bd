/** Names of brokers by their ids, read once. */
import { useLoad } from '../load.ts';
import type { PageClient } from '../sent-once.ts';

let names: Promise<ReadonlyMap<string, string>> | undefined;

async function namesOf(client: PageClient): Promise<ReadonlyMap<string, string>> {
  names ??= client
    .call('listBrokers')
    .then(({ data }) => new Map(data.map(({ brokerId, name }) => [brokerId, name] as const)));
  try {
    return await names;
  } catch (error) {
    names = undefined;
    throw error;
  }
}

/** The name of a broker; its id until the names are read, and for a visitor without a token. */
export function useBrokerNames(client: PageClient | undefined): (brokerId: string) => string {
  const { value } = useLoad(
    async () => (client === undefined ? undefined : await namesOf(client)),
    [client === undefined],
  );
  return (brokerId) => value?.get(brokerId) ?? brokerId;
}
