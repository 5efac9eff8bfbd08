import { startReceiver } from './webhooksReceiver.js'

/** Refuses one order for as long as it is told to. */
export async function pickyReceiver(refused: string) {
  const picky = { refuses: true }
  const receiver = await startReceiver((response, { payload }) => {
    const isRefused = picky.refuses && payload.data.orderId === refused
    response.writeHead(isRefused ? 422 : 204).end()
  })
  return { receiver, picky }
}
