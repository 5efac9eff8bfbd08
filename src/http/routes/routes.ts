import type { Subscriptions } from '../../subscriptions/Subscriptions.js'
import { createQuerySchemas } from '../schemas/querySchemas.js'
import { answer } from './answer.js'
import { buyerRoutes } from './buyerRoutes.js'
import { merchantRoutes } from './merchantRoutes.js'
import { openApi } from './openApi.js'
import { probeRoutes } from './probeRoutes.js'
import type { Route } from './route.js'
import { subscriptionRoutes } from './subscriptionRoutes.js'

/**
 * Returns all routes, including that of the OpenAPI document. Routes of
 * subscriptions exist only if `subscriptions` is given.
 */
export function createRoutes(
  basePath: string,
  subscriptions?: Subscriptions | undefined,
): readonly Route[] {
  const queries = createQuerySchemas()
  let document: unknown
  const routes: Route[] = [
    ...buyerRoutes(),
    ...merchantRoutes(queries),
    ...probeRoutes(),
    ...(subscriptions ? subscriptionRoutes(subscriptions, queries) : []),
    {
      who: 'public',
      name: 'getOpenApi',
      method: 'GET',
      path: '/openapi.json',
      summary: 'This document',
      answers: { 200: 'openApi' },
      run: async () => {
        document ??= openApi(routes, basePath)
        return answer(200, document, { 'cache-control': 'max-age=300' })
      },
    },
  ]
  return routes
}
