/** A number chosen by sliding, with its value in words next to its name. */
import { normalizeProps, useMachine } from '@zag-js/preact';
import * as slider from '@zag-js/slider';
import { useId } from 'preact/hooks';

export function Slider({
  name,
  value,
  min,
  max,
  step = 1,
  text,
  onChange,
}: {
  readonly name: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step?: number;
  /** The value in words. */
  readonly text: (value: number) => string;
  readonly onChange: (value: number) => void;
}) {
  const service = useMachine(slider.machine, {
    id: useId(),
    'aria-label': [name],
    value: [value],
    min,
    max,
    step,
    getAriaValueText: (details) => text(details.value),
    onValueChange: ({ value: [next] }) => {
      if (next !== undefined) onChange(next);
    },
  });
  const api = slider.connect(service, normalizeProps);
  return (
    <div {...api.getRootProps()} class="slider">
      <div class="slider-label">
        <span>{name}</span>
        <output>{text(value)}</output>
      </div>
      <div {...api.getControlProps()}>
        <div {...api.getTrackProps()}>
          <div {...api.getRangeProps()} />
        </div>
        <div {...api.getThumbProps({ index: 0 })}>
          <input {...api.getHiddenInputProps({ index: 0 })} />
        </div>
      </div>
    </div>
  );
}
