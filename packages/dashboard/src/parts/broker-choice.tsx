import { useId } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { profileOf } from '../live/broker-profile.ts';
import { useLoad } from '../load.ts';

/** A broker, chosen by its name, with its profile below. */
export function BrokerChoice({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (brokerId: string) => void;
}) {
  const id = useId();
  const broker = useBroker();
  const brokers = useLoad(() => broker.call('listBrokers'), []);
  const data = brokers.value?.data ?? [];
  const chosen = data.find(({ brokerId }) => brokerId === value);
  return (
    <div class="field double">
      <label for={id}>Broker</label>
      <select
        id={id}
        value={value}
        aria-describedby={`${id}-profile`}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        {data.map((one) => (
          <option key={one.brokerId} value={one.brokerId} title={profileOf(one)}>
            {one.name}
          </option>
        ))}
      </select>
      <small id={`${id}-profile`} class="dim">
        {chosen === undefined ? '' : profileOf(chosen)}
      </small>
    </div>
  );
}
