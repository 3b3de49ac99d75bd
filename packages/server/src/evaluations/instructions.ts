import type { ShownScenario } from './definition.js';

/** The instructions of a scenario and of its tasks, in one text; undefined if there are none. */
export const instructionsOf = ({ instructions, tasks = [] }: Partial<ShownScenario> = {}):
  string | undefined =>
  instructions === undefined && tasks.length === 0
    ? undefined
    : [instructions ?? [], tasks.map((task) => task.instructions)].flat(2).join('\n\n');
