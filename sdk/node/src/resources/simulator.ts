import type { CallOptions } from '../options.ts';
import { Resource } from '../resource.ts';
import { path } from '../transport.ts';
import type { SetSimulatorReplyBody, SimulatorReply } from '../types.ts';

export class Simulator extends Resource {
  /** Remove the reply of the simulator. */
  deleteReply(options?: CallOptions): Promise<void> {
    return this._delete(path`/v1/simulator/reply`, options);
  }

  /** Retrieve the reply of the simulator. */
  getReply(options?: CallOptions): Promise<SimulatorReply> {
    return this._get(path`/v1/simulator/reply`, options);
  }

  /** Choose the reply of the simulator. */
  setReply(body: SetSimulatorReplyBody, options?: CallOptions): Promise<SimulatorReply> {
    return this._send('PUT', path`/v1/simulator/reply`, options, body);
  }
}
