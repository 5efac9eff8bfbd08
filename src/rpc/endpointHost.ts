import type { Client } from 'viem'
import { NodeAnswerError } from './errors.js'
import type { SendRpc } from './readTransport.js'

/** Host of a URL, without its path, which may hold a key, and credentials. */
function hostOf(url: unknown): string | undefined {
  return /^\w+:\/\/([^/?#]*@)?([^/?#]+)/.exec(String(url))?.[2]
}

/** The same way of sending; a failure names the host it came from. */
export function namingHost(send: SendRpc, url: unknown): SendRpc {
  const host = hostOf(url)
  return async (method, params) => {
    const outcome = await send(method, params)
    if (!outcome.failure) return outcome
    const words = hideKeys(outcome.failure.words, url)
    return { failure: { ...outcome.failure, words, host } }
  }
}

/** Some peers echo the path they were asked by: a long part may be a key. */
function hideKeys(words: string, url: unknown): string {
  const [, path = ''] = /^\w+:\/\/[^/?#]+(.*)/.exec(String(url)) ?? []
  const keys = path.split(/[/?&=#]/).filter((part) => part.length > 7)
  return keys.reduce((text, key) => text.replaceAll(key, '…'), words)
}

/** Reads an answer; an error about it names the host it came from. */
export function readFrom<answer>(
  client: Pick<Client, 'transport'>,
  read: () => answer,
): answer {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof NodeAnswerError)) throw error
    const { method, problem } = error.details as Record<string, string>
    throw new NodeAnswerError({
      method: String(method),
      problem: String(problem),
      host: hostOf(Object(client.transport).url),
    })
  }
}
