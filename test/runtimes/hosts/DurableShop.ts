import { type DurableStorage, durableObjectStore } from 'countersign/durable'
import { durableCases } from '../suite/durableCases.js'
import { openStage } from '../suite/openStage.js'
import { playCases } from '../suite/playSuite.js'
import type { Setting } from '../suite/types.js'

/** A shop in a Durable Object: a request brings the setting. */
export class DurableShop {
  readonly #storage: DurableStorage

  constructor({ storage }: { storage: DurableStorage }) {
    this.#storage = storage
  }

  async fetch(request: Request): Promise<Response> {
    const stage = openStage((await request.json()) as Setting)
    const cases = durableCases((parameters) =>
      durableObjectStore(this.#storage, parameters),
    )
    return Response.json(await playCases(stage, cases))
  }
}
