package objects
import ("testing";"strings";"fmt")
func TestQuick(t *testing.T){
 for _, in := range []string{
 "", "---\n", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}{\"kind\":\"x\"}", "{", "[1]", "a: b: c", "{\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}", "5", "{\"items\":[5],\"kind\":\"List\"}",
 "{a: b}", "{}", "kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: x}\n- metadata: {name: y}\n", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec: {priority: x}", "\xff\xfea","apiVersion: v1\nkind: Node\nmetadata:\n  name: a\nstatus: {allocatable: {cpu: 1}}",
 "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  creationTimestamp: 2026-01-01T00:00:00Z\n",
 }{
  for _, w := range []int{0, 1<<20} {
   s, err := readWith(in, w)
   if err != nil { fmt.Printf("%.60q %d: ERR %v\n", in, w, err) } else { fmt.Printf("%.60q: %d pods %d nodes\n", in, len(s.Pods), len(s.Nodes)) }
  }
 }
}
func readWith(in string, w int)(*Set, error){
 return read("dump", strings.NewReader(in), w)
}
