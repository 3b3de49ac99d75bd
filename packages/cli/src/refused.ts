import { SandpitError } from '@sandpit/client';

/** What was asked for is refused here, before or without the server. The run ends with 1. */
export class Refused extends SandpitError {
  override readonly name = 'Refused';
}
