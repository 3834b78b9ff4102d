// Reads words, prints those that are anagrams of each other on one line.
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.TreeMap;

public class Anagrams {
    public static void main(String[] args) {
        Map<String, List<String>> groups = new TreeMap<>();
        for (Scanner in = new Scanner(System.in); in.hasNext(); ) {
            String word = in.next();
            char[] letters = word.toCharArray();
            Arrays.sort(letters);
            groups.computeIfAbsent(new String(letters), key -> new ArrayList<>()).add(word);
        }
        groups.values().forEach(group -> System.out.println(String.join(" ", group)));
    }
}
