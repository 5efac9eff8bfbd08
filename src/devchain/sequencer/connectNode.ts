import { Agent, request as httpRequest } from 'node:http'
import {
  asJson,
  asJsonList,
  type Json,
  type NodeCall,
  RpcFault,
} from './devRpc.js'

/** A connection to the private node behind an emulated network. */
export type NodeConnection = {
  port: number
  /**
   * Sends one call.
   *
   * @throws {@link RpcFault} with the node's own code and message.
   */
  request(method: string, params?: readonly unknown[]): Promise<unknown>
  /** Sends several calls in one request. Throws the first error. */
  batch(calls: readonly NodeCall[]): Promise<unknown[]>
  close(): void
}

/**
 * Connects to a node on this machine. Requests reuse open connections, which is
 * faster.
 */
export function connectNode(port: number): NodeConnection {
  const agent = new Agent({ keepAlive: true })
  const encode = ([method, params]: NodeCall, id: number): Json => ({
    jsonrpc: '2.0',
    id,
    method,
    params,
  })
  return {
    port,
    request: async (method, params = []) => {
      const body = JSON.stringify(encode([method, params], 1))
      return resultOf(await post({ port, agent, body }))
    },
    batch: async (calls) => {
      if (calls.length === 0) return []
      const body = JSON.stringify(calls.map(encode))
      const answers = asJsonList(await post({ port, agent, body }))
      const byId = new Map(answers.map((answer) => [answer.id, answer]))
      return calls.map((_, id) => resultOf(byId.get(id)))
    },
    close: () => agent.destroy(),
  }
}

function resultOf(answer: unknown): unknown {
  const { error, result } = asJson(answer)
  if (error === undefined) return result
  const { code, message, data } = asJson(error)
  throw new RpcFault({ code: Number(code), message: String(message), data })
}

function post({
  port,
  agent,
  body,
}: {
  port: number
  agent: Agent
  body: string
}): Promise<unknown> {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const options = { host: '127.0.0.1', port, agent, method: 'POST', headers }
  return new Promise((resolve, reject) => {
    const sent = httpRequest(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(chunks).toString()))
        } catch (error) {
          reject(error)
        }
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
