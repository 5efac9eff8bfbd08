import { answer } from './answer.js'
import { checkMayOperate } from './checkMayOperate.js'
import { merchantRoute, type Route } from './route.js'

/**
 * The routes that act on the whole database, for every shop in it. Only a
 * merchant for whom `authorize` returns `operates: true` may use them.
 */
export function operatorRoutes(): readonly Route[] {
  return [
    merchantRoute({
      name: 'suspend',
      method: 'POST',
      path: '/merchant/suspend',
      summary: 'Stops all sending, for every shop on the database',
      body: 'Nothing',
      answers: { 200: 'Sending' },
      run: async ({ all, operates }) => {
        checkMayOperate(operates)
        await all.suspend()
        return answer(200, { suspended: true })
      },
    }),
    merchantRoute({
      name: 'resume',
      method: 'POST',
      path: '/merchant/resume',
      summary: 'Allows sending again, for every shop on the database',
      body: 'Nothing',
      answers: { 200: 'Sending' },
      run: async ({ all, operates }) => {
        checkMayOperate(operates)
        await all.resume()
        return answer(200, { suspended: false })
      },
    }),
    merchantRoute({
      name: 'reseal',
      method: 'POST',
      path: '/merchant/reseal',
      summary: 'Seals stored secrets again with the current key',
      body: 'Nothing',
      answers: { 200: 'ResealReport' },
      run: async ({ all, operates, signal }) => {
        checkMayOperate(operates)
        return answer(200, await all.reseal({ signal }))
      },
    }),
  ]
}
