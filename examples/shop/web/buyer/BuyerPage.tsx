export function BuyerPage({ path }: { path: string }) {
  return <main>{path}</main>
}
